// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
// Shows the current photo of a slideshow on the desktop. legacy.sed makes the form for GNOME 43 and 44.
import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import Meta from 'gi://Meta';
import Pango from 'gi://Pango';
import St from 'gi://St';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import {Extension, gettext as _} from 'resource:///org/gnome/shell/extensions/extension.js';

const service = 'org.imagefeed.ImageFeed1';
const root = '/org/imagefeed/ImageFeed1';
const {NONE, NO_AUTO_START} = Gio.DBusCallFlags;
// Images may take longer than the default timeout.
const timeoutMilliseconds = 600000;
const fadeMilliseconds = 500;

// Returns a text as one line, because the title of a post may have many.
const oneLine = text => (text ?? '').replace(/\s+/g, ' ').trim();

// Returns the group of the wallpapers, or else that of the windows.
function findBackground() {
    const windows = global.window_group;
    return windows.get_children().find(child => child instanceof Meta.BackgroundGroup) ?? windows;
}

class PhotoWidget {
    constructor(settings, folder) {
        this._settings = settings;
        this._hearts = [new Gio.FileIcon({file: folder.get_child('like-symbolic.svg')}),
            new Gio.ThemedIcon({name: 'emote-love-symbolic'})];
        this._cancellable = new Gio.Cancellable();
        this._slideshow = null;
        this._slideshowConnections = [];
        this._image = '';
        this._problem = '';
        this._canStart = false;
        this._wanted = null;
        this._build();
        this._connections = [
            [settings, settings.connect('changed', () => this._show())],
            [settings, settings.connect('changed::slideshow', () => this._follow())],
            ...['fit', 'every-shape'].map(key => [settings, settings.connect(`changed::${key}`,
                () => this._slideshow?.g_name_owner && this._setOrientation())]),
            [global.display, global.display.connect('workareas-changed', () => this._place())],
            [this._actor, this._actor.connect('notify::size', () => this._place())],
        ];
        this._subscriptions = [
            ['org.freedesktop.DBus', 'org.freedesktop.DBus', 'ActivatableServicesChanged', '/org/freedesktop/DBus',
                () => this._checkInstallation()],
            // A slideshow that was removed may be created again.
            [service, 'org.freedesktop.DBus.ObjectManager', 'InterfacesAdded', root, path =>
                path === `${root}/${this._object}` && this._attach()],
        ].map(([sender, part, signal, path, handle]) => Gio.DBus.session.signal_subscribe(sender, part, signal, path,
            null, Gio.DBusSignalFlags.NONE, (...values) => handle(...values[5].deepUnpack())));
        this._follow();
    }

    destroy() {
        this._cancellable.cancel();
        this._subscriptions.forEach(id => Gio.DBus.session.signal_unsubscribe(id));
        this._connections.forEach(([object, id]) => object.disconnect(id));
        this._leave();
        this._actor.destroy();
        this._actor = null;
    }

    // The widget

    _build() {
        const vertical = new Clutter.BoxLayout({orientation: Clutter.Orientation.VERTICAL});
        const x_align = Clutter.ActorAlign.CENTER;
        this._actor = new St.Widget({style_class: 'imagefeed-widget', layout_manager: vertical, reactive: true});
        this._frame = new St.Widget({layout_manager: new Clutter.FixedLayout(), x_align, clip_to_allocation: true});
        this._message = new St.Label({style_class: 'imagefeed-message', x_align});
        this._bar = new St.Widget({layout_manager: new Clutter.BoxLayout(), x_align});
        this._like = this._addButton('emote-love-symbolic', _('Like'), photo => this._toggleLike(photo));
        this._photoButtons = [
            this._like,
            this._addButton('document-open-symbolic', _('Open'), photo => this._open(photo)),
            this._addButton('view-conceal-symbolic', _('Hide this photo from the slideshow'),
                ({id}) => this._call(this._object, 'Slideshow', 'Hide', new GLib.Variant('(s)', [id]))),
            this._addButton('media-skip-forward-symbolic', _('Next photo'),
                () => this._call(this._object, 'Slideshow', 'Next')),
        ];
        this._start = this._addButton('media-playback-start-symbolic', _('Start Image Feed'), () => this._attach());
        [this._frame, this._message, this._bar].forEach(child => this._actor.add_child(child));
        findBackground().add_child(this._actor);
        this._show();
    }

    _addButton(icon_name, accessible_name, action) {
        const child = new St.Icon({icon_name});
        const button = new St.Button({style_class: 'imagefeed-button', accessible_name, can_focus: true, child});
        button.connect('clicked', async () => {
            try {
                await action(this._photo());
                this._show();
            } catch (error) {
                this._report(error);
            }
        });
        this._bar.add_child(button);
        return button;
    }

    // Moves the widget to its place in the work area of the primary monitor.
    _place() {
        const area = Main.layoutManager.getWorkAreaForMonitor(Main.layoutManager.primaryIndex);
        const margin = 24 * St.ThemeContext.get_for_stage(global.stage).scale_factor;
        const place = this._settings.get_enum('place');
        const x = (area.width - this._actor.width - 2 * margin) * (place % 3) / 2;
        const y = (area.height - this._actor.height - 2 * margin) * Math.floor(place / 3) / 2;
        this._actor.set_position(Math.round(area.x + margin + x), Math.round(area.y + margin + y));
    }

    // The daemon

    async _call(object, part, method, parameters = null, flags = NO_AUTO_START) {
        const reply = await Gio.DBus.session.call(service, object ? `${root}/${object}` : root, `${service}.${part}`,
            method, parameters, null, flags, timeoutMilliseconds, this._cancellable);
        this._problem = '';
        return reply.recursiveUnpack();
    }

    // Follows the slideshow of the settings.
    async _follow() {
        this._leave();
        const name = this._settings.get_string('slideshow');
        // The daemon refuses names with other characters.
        const object = name === '' ? 'slideshow' : `slideshow/${name.replace(/\W/g, '_')}`;
        this._object = object;
        try {
            const slideshow = await Gio.DBusProxy.new(Gio.DBus.session, Gio.DBusProxyFlags.DO_NOT_AUTO_START, null,
                service, `${root}/${object}`, `${service}.Slideshow`, this._cancellable);
            if (object !== this._object)
                return;
            this._slideshow = slideshow;
            this._slideshowConnections = [
                slideshow.connect('g-properties-changed', () => this._report(null)),
                // A daemon that ended is not started again: the user or the package manager may have stopped it.
                slideshow.connect('notify::g-name-owner', ({g_name_owner}) =>
                    g_name_owner ? this._attach() : this._checkInstallation())];
            await this._attach();
        } catch (error) {
            this._report(error);
        }
    }

    _leave() {
        this._slideshowConnections.forEach(id => this._slideshow.disconnect(id));
        this._slideshowConnections = [];
        if (this._slideshow?.g_name_owner) {
            Gio.DBus.session.call(service, `${root}/${this._object}`, `${service}.Slideshow`, 'Detach', null, null,
                NO_AUTO_START, -1, null).catch(() => {});
        }
        this._slideshow = null;
    }

    // Chooses photos of the shape of the frame, unless the settings belong to all widgets.
    async _setOrientation() {
        if (this._settings.get_string('slideshow') === '')
            return;
        const isAny = this._settings.get_boolean('every-shape') || this._settings.get_string('fit') === 'whole';
        const orientation = new GLib.Variant('s', isAny ? 'any' : 'landscape');
        await Gio.DBus.session.call(service, `${root}/${this._object}`, 'org.freedesktop.DBus.Properties', 'Set',
            new GLib.Variant('(ssv)', [`${service}.Slideshow`, 'Orientation', orientation]), null, NO_AUTO_START,
            timeoutMilliseconds, this._cancellable).catch(error => this._report(error));
    }

    // Attaches to the slideshow, which starts the daemon.
    async _attach() {
        try {
            const name = this._settings.get_string('slideshow');
            if (name !== '')
                await this._call('', 'Manager', 'OpenSlideshow', new GLib.Variant('(s)', [name]), NONE);
            await this._setOrientation();
            await this._call(this._object, 'Slideshow', 'Attach', null, NONE);
            this._show();
        } catch (error) {
            if (this._slideshow?.g_name_owner)
                this._report(error);
            else
                await this._checkInstallation(error);
        }
    }

    // Says whether the daemon is not installed or not running. Starts a daemon that was installed meanwhile.
    async _checkInstallation(error = null) {
        try {
            const reply = await Gio.DBus.session.call('org.freedesktop.DBus', '/org/freedesktop/DBus',
                'org.freedesktop.DBus', 'ListActivatableNames', null, null, NONE, -1, this._cancellable);
            if (this._slideshow?.g_name_owner)
                return;
            const wasMissing = this._problem !== '' && !this._canStart;
            this._canStart = reply.deepUnpack()[0].includes(service);
            if (this._canStart && wasMissing && !error)
                await this._attach();
            else if (this._canStart)
                this._report(error, _('The Image Feed daemon is not running.'));
            else
                this._report(null, _('The Image Feed daemon is not installed. Install the package imagefeed.'));
        } catch (failure) {
            this._report(failure);
        }
    }

    // Shows a problem, or removes the last one.
    _report(error, message = '') {
        if (error instanceof GLib.Error)
            Gio.DBusError.strip_remote_error(error);
        this._problem = [message, error?.message].filter(text => text).join(' ');
        this._show();
    }

    // The photo

    _photo() {
        return this._slideshow?.get_cached_property('Photo')?.recursiveUnpack() ?? {};
    }

    async _toggleLike({id}) {
        this._wanted = {id, liked: !this._like.checked};
        this._show();
        await this._call('combined', 'Like', 'Toggle', new GLib.Variant('(s)', [id])).finally(() => {
            this._wanted = null;
        });
    }

    async _open({id}) {
        const [path] = await this._call('combined', 'Feed', 'GetImage', new GLib.Variant('(ss)', [id, 'full']));
        const [uri, context] = [Gio.File.new_for_path(path).get_uri(), global.create_app_launch_context(0, -1)];
        Gio.AppInfo.launch_default_for_uri_async(uri, context, this._cancellable, (_source, result) => {
            try {
                Gio.AppInfo.launch_default_for_uri_finish(result);
            } catch (error) {
                this._report(error);
            }
        });
    }

    _show() {
        // disable() cancels calls.
        if (!this._actor)
            return;
        const isRunning = Boolean(this._slideshow?.g_name_owner);
        const photo = isRunning ? this._photo() : {};
        const isCalling = Boolean(photo.id) && this._wanted?.id === photo.id;
        const isPending = isCalling || photo.pending;
        // While a like is pending, the wanted state is the opposite of the confirmed one.
        this._like.checked = isCalling ? this._wanted.liked : photo.liked !== photo.pending;
        // The shape shows the state without colors.
        this._like.child.gicon = this._hearts[Number(this._like.checked)];
        this._like.accessible_name = this._like.checked
            ? isPending ? _('Unlike (pending)') : _('Unlike')
            : isPending ? _('Like (pending)') : _('Like');
        this._like.opacity = isPending ? 128 : 255;
        this._photoButtons.forEach(button => button.set({visible: Boolean(photo.id)}));
        this._start.visible = this._canStart && !isRunning;
        const title = oneLine(photo.title || photo.description);
        const hint = isRunning ? _('There is no photo to show. Log in to an account with photos.') : '';
        const size = this._settings.get_int('size') * St.ThemeContext.get_for_stage(global.stage).scale_factor;
        const isTitle = Boolean(photo.id) && this._problem === '';
        this._message.clutter_text.line_wrap = !isTitle;
        this._message.clutter_text.ellipsize = Pango.EllipsizeMode[isTitle ? 'END' : 'NONE'];
        this._message.text = isTitle ? title : oneLine(this._problem) || hint;
        this._message.visible = this._message.text !== '';
        this._message.style = `max-width: ${this._settings.get_int('size')}px;`;
        this._actor.visible = this._message.visible || Boolean(photo.id);
        this._showImage(photo, photo.id ? this._slideshow.get_cached_property('Image').unpack() : '', size);
        this._place();
    }

    // Shows the image of the photo, which fades in over the previous one. The frame gets the size of the texture, because
    // the size of a photo can be unknown.
    _showImage(photo, path, size) {
        const fit = this._settings.get_string('fit');
        const key = `${size} ${fit} ${path}`;
        if (key === this._image)
            return;
        this._image = key;
        this._frame.get_children().forEach(layer => this._fade(layer, 0));
        this._frame.visible = path !== '';
        this._frame.accessible_name = oneLine(photo.description || photo.title) || _('Photo');
        if (path === '')
            return;
        this._frame.style = /^#[0-9a-f]{6}$/i.test(photo.color) ? `background-color: ${photo.color};` : null;
        if (fit !== 'whole' || this._frame.width === 0)
            this._frame.set_size(size, Math.round(size * 3 / 4));
        // A photo that fills the frame is larger than the frame. One of few pixels, enlarged, is blurred.
        if (fit === 'blurred')
            this._addLayer(path, 16, (width, height) => this._placeLayer(width, height, Math.max));
        this._addLayer(path, fit === 'filled' ? 2 * size : size, (width, height) => {
            if (fit !== 'whole')
                return this._placeLayer(width, height, fit === 'filled' ? Math.max : Math.min);
            const scale = size / Math.max(width, height);
            this._frame.set_size(Math.round(width * scale), Math.round(height * scale));
            return this._placeLayer(width, height, Math.max);
        });
    }

    // Returns the place in the frame of an image, which the smaller or the greater scale of its sides determines.
    _placeLayer(width, height, choose) {
        const frame = [this._frame.width, this._frame.height];
        const scale = choose(frame[0] / width, frame[1] / height);
        return [...[width, height].map((side, index) => Math.round((frame[index] - side * scale) / 2)), scale];
    }

    // Adds an image to the frame, and places it when another thread has loaded it.
    _addLayer(path, size, place) {
        // Without a height, the texture keeps the proportions of the image.
        const layer = St.TextureCache.get_default().load_file_async(Gio.File.new_for_path(path), size, -1, 1,
            this._frame.get_resource_scale());
        layer.opacity = 0;
        layer.set_content_scaling_filters(Clutter.ScalingFilter.TRILINEAR, Clutter.ScalingFilter.LINEAR);
        const show = () => {
            const [isKnown, width, height] = layer.content?.get_preferred_size() ?? [false];
            if (!isKnown)
                return;
            const [x, y, scale] = place(width, height);
            layer.set_position(x, y);
            // The cache sets the size of the texture after this signal.
            layer.set_scale(scale, scale);
            this._fade(layer, 255);
        };
        layer.connect('notify::content', show);
        this._frame.add_child(layer);
        show();
    }

    // The shell shows no animation if the user wants less motion.
    _fade(layer, opacity) {
        layer.ease({opacity, duration: fadeMilliseconds, onComplete: () => opacity || layer.destroy()});
    }
}

export default class ImageFeedExtension extends Extension {
    enable() {
        this._widget = new PhotoWidget(this.getSettings(), this.dir);
    }

    disable() {
        this._widget.destroy();
        this._widget = null;
    }
}
