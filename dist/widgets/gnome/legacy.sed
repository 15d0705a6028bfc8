# Makes the form of extension.js and prefs.js for GNOME 43 and 44, which have no modules.
s| legacy\.sed makes the form for GNOME 43 and 44\.$||
s|^import \(.*\) from 'gi://\(.*\)';$|const \1 = imports.gi.\2;|
s|^import \* as Main from .*|const Main = imports.ui.main;|
s|^import {Extension.*|const ExtensionUtils = imports.misc.extensionUtils; const {gettext: _, ngettext} = ExtensionUtils;|
s|^export default class \(.*\) extends Extension.* {$|class \1 {|
s|this\.getSettings()|ExtensionUtils.getSettings()|
s|this\.dir|ExtensionUtils.getCurrentExtension().dir|
