// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
// The preferences. Those of the widget are settings of the extension; those of the slideshow belong to the daemon.
import Adw from 'gi://Adw';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Gtk from 'gi://Gtk';
import {ExtensionPreferences, gettext as _, ngettext} from 'resource:///org/gnome/Shell/Extensions/js/extensions/prefs.js';

const service = 'org.imagefeed.ImageFeed1';
const root = '/org/imagefeed/ImageFeed1';
// The translations are not available before the window is created.
const places = () => [_('Top left'), _('Top'), _('Top right'), _('Left'), _('Center'), _('Right'), _('Bottom left'),
    _('Bottom'), _('Bottom right')];
const fits = () => [_('Blurred edges'), _('Whole photo'), _('Fill the frame')];
const intervals = () => [[0, _('Never')], [60, _('1 minute')], [300, _('5 minutes')], [600, _('10 minutes')],
    [1800, _('30 minutes')], [3600, _('1 hour')], [86400, _('1 day')]];

// Returns the message of an error as markup.
function message(error) {
    if (error.matches?.(Gio.DBusError, Gio.DBusError.SERVICE_UNKNOWN))
        return _('The Image Feed daemon is not installed. Install the package imagefeed.');
    if (error instanceof GLib.Error)
        Gio.DBusError.strip_remote_error(error);
    return GLib.markup_escape_text(error.message, -1);
}

class Preferences {
    constructor(window, settings) {
        this._window = window;
        this._settings = settings;
        const widget = new Adw.PreferencesGroup({title: _('Widget')});
        for (const [title, key, names] of [[_('Place'), 'place', places()],
            [_('Photos of other shapes'), 'fit', fits()]]) {
            const choice = this._addRow(widget, title, Gtk.DropDown.new_from_strings(names));
            choice.selected = settings.get_enum(key);
            choice.connect('notify::selected', () => settings.set_enum(key, choice.selected));
        }
        const size = this._addRow(widget, _('Size in pixels'), Gtk.SpinButton.new_with_range(160, 1600, 20));
        settings.bind('size', size, 'value', Gio.SettingsBindFlags.DEFAULT);
        this._addName(widget);
        this._slideshow = new Adw.PreferencesGroup({title: _('Slideshow')});
        this._rows = [];
        const page = new Adw.PreferencesPage();
        const accounts = new Adw.PreferencesGroup({title: _('Accounts')});
        this._addLogin(accounts);
        [widget, this._slideshow, accounts].forEach(group => page.add(group));
        window.add(page);
        this._fillSlideshow();
    }

    _addRow(group, title, widget) {
        widget.valign = Gtk.Align.CENTER;
        const row = new Adw.ActionRow({title, activatable_widget: widget});
        row.add_suffix(widget);
        group.add(row);
        if (group === this._slideshow)
            this._rows.push(row);
        return widget;
    }

    // Adds the name of a slideshow of the widget's own, and the choice of its photos. The daemon checks the name.
    _addName(group) {
        const row = new Adw.EntryRow({title: _('Name of a slideshow of its own'), show_apply_button: true});
        row.text = this._settings.get_string('slideshow');
        group.add(row);
        const everyShape = this._addRow(group, _('Photos of every shape'), new Gtk.Switch());
        this._settings.bind('every-shape', everyShape, 'active', Gio.SettingsBindFlags.DEFAULT);
        const update = () => {
            everyShape.sensitive = this._settings.get_string('slideshow') !== '';
        };
        update();
        row.connect('apply', async () => {
            try {
                await this._open(row.text);
                this._settings.set_string('slideshow', row.text);
                update();
                await this._fillSlideshow();
            } catch (error) {
                this._window.add_toast(new Adw.Toast({title: message(error)}));
            }
        });
    }

    // Returns the path of a slideshow, which is created if necessary.
    async _open(name) {
        if (name === '')
            return `${root}/slideshow`;
        return (await this._call(root, `${service}.Manager`, 'OpenSlideshow', new GLib.Variant('(s)', [name])))[0];
    }

    // Adds a button that opens the window for a login, or names the command if there is no window.
    _addLogin(group) {
        const viewer = Gio.AppInfo.get_all().find(app => app.get_id() === 'org.imagefeed.Viewer.desktop');
        if (!viewer) {
            group.description =
                _('To log in, run “imagefeedctl login” in a terminal, or install the package imagefeed-viewer.');
            return;
        }
        const login = new Gtk.Button({label: _('Log in…')});
        const button = this._addRow(group, _('Photos of another service or folder'), login);
        button.connect('clicked', () => {
            try {
                viewer.launch([], this._window.get_display().get_app_launch_context());
            } catch (error) {
                this._window.add_toast(new Adw.Toast({title: message(error)}));
            }
        });
    }

    async _call(path, part, method, parameters = null) {
        const {NONE} = Gio.DBusCallFlags;
        const reply = await Gio.DBus.session.call(service, path, part, method, parameters, null, NONE, -1, null);
        return reply.recursiveUnpack();
    }

    _set(property, value) {
        this._call(this._path, 'org.freedesktop.DBus.Properties', 'Set',
            new GLib.Variant('(ssv)', [`${service}.Slideshow`, property, value]))
            .catch(error => this._window.add_toast(new Adw.Toast({title: message(error)})));
    }

    // Adds a row with values and their names. The current value is added if it is not in the list.
    _addChoice(title, property, choices, current, toVariant) {
        const key = JSON.stringify;
        if (!choices.some(([value]) => key(value) === key(current)))
            choices.push([current, Array.isArray(current) ? current[1]
                : ngettext('%d second', '%d seconds', current).replace('%d', current)]);
        const names = choices.map(([, name]) => name);
        const row = this._addRow(this._slideshow, title, Gtk.DropDown.new_from_strings(names));
        row.selected = choices.findIndex(([value]) => key(value) === key(current));
        row.connect('notify::selected', () => this._set(property, toVariant(choices[row.selected][0])));
    }

    async _fillSlideshow() {
        this._rows.forEach(row => this._slideshow.remove(row));
        this._rows = [];
        try {
            await this._addSettings();
        } catch (error) {
            this._slideshow.description = message(error);
        }
    }

    async _addSettings() {
        const name = this._settings.get_string('slideshow');
        this._path = await this._open(name);
        const [objects] = await this._call(root, 'org.freedesktop.DBus.ObjectManager', 'GetManagedObjects');
        const slideshow = objects[this._path][`${service}.Slideshow`];
        this._addChoice(_('Source'), 'Source', await this._sources(objects), slideshow.Source,
            value => new GLib.Variant('(os)', value));
        this._addChoice(_('Next photo after'), 'Interval', intervals(), slideshow.Interval,
            value => new GLib.Variant('u', value));
        const shuffle = this._addRow(this._slideshow, _('Random order'), new Gtk.Switch({active: slideshow.Shuffle}));
        shuffle.connect('notify::active', () => this._set('Shuffle', new GLib.Variant('b', shuffle.active)));
        this._slideshow.description = name === '' ? _('All widgets show the same slideshow.') : '';
    }

    // The sources of all accounts. An account that cannot list its sources contributes its default source only.
    async _sources(objects) {
        const choices = [[[`${root}/combined`, ''], _('All accounts')]];
        for (const [path, interfaces] of Object.entries(objects)) {
            const account = interfaces[`${service}.Account`];
            if (!account || !interfaces[`${service}.Feed`])
                continue;
            choices.push([[path, ''], account.Label]);
            const [sources] = await this._call(path, `${service}.Feed`, 'ListSources').catch(() => [[]]);
            choices.push(...sources.map(({id, title}) => [[path, id], `${account.Label}: ${title || id}`]));
        }
        return choices;
    }
}

export default class ImageFeedPreferences extends ExtensionPreferences {
    fillPreferencesWindow(window) {
        Gio._promisify(Gio.DBusConnection.prototype, 'call');
        new Preferences(window, this.getSettings());
    }
}
