#!/usr/bin/env -S gjs -m
// Prints the title of the newest photo, and prints it again after each update of the feed.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const name = 'org.imagefeed.ImageFeed1';
const proxy = (path, part) => Gio.DBusProxy.new_for_bus_sync(
    Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, null, name, path, `${name}.${part}`, null);

const manager = proxy('/org/imagefeed/ImageFeed1', 'Manager');
const account = manager.get_cached_property('DefaultAccount').deepUnpack();
const feed = proxy(account, 'Feed');

function show() {
    const page = feed.call_sync('GetPage', new GLib.Variant('(ssu)', ['', '', 1]), Gio.DBusCallFlags.NONE, -1, null);
    for (const photo of page.recursiveUnpack()[0])
        print(photo.title ?? photo.description ?? photo.id);
}

feed.connect('g-signal', (_proxy, _sender, signal) => signal === 'Updated' && show());
show();
new GLib.MainLoop(null, false).run();
