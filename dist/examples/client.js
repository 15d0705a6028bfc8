#!/usr/bin/env -S gjs -m
// Prints the title of the newest photo, with a heart if it is liked, and prints it again after each change.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

const name = 'org.imagefeed.ImageFeed1';
const proxy = (path, part) => Gio.DBusProxy.new_for_bus_sync(
    Gio.BusType.SESSION, Gio.DBusProxyFlags.NONE, null, name, path, `${name}.${part}`, null);

const manager = proxy('/org/imagefeed/ImageFeed1', 'Manager');
const account = manager.get_cached_property('DefaultAccount').deepUnpack();
const feed = proxy(account, 'Feed');

let last = null;

function show() {
    const page = feed.call_sync('GetPage', new GLib.Variant('(ssu)', ['', '', 1]), Gio.DBusCallFlags.NONE, -1, null);
    for (const photo of page.recursiveUnpack()[0]) {
        const line = (photo.liked ? '♥ ' : '') + (photo.title ?? photo.description ?? photo.id);
        // Several signals may announce the same change.
        if (line !== last)
            print(line);
        last = line;
    }
}

// The signals are Updated, PhotoChanged, PhotosChanged and PhotosRemoved.
feed.connect('g-signal', show);
show();
new GLib.MainLoop(null, false).run();
