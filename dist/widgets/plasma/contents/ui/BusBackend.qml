// SPDX-License-Identifier: Apache-2.0
// The slideshow by D-Bus, for Plasma 6.4 and later.
import QtQuick 2.15
import org.kde.plasma.workspace.dbus as DBus

Commands {
    id: backend

    readonly property string name: "org.imagefeed.ImageFeed1"
    readonly property string path: "/slideshow" + (slideshow && slideshow.name ? "/" + slideshow.name : "")
    readonly property string unknown: "org.freedesktop.DBus.Error.ServiceUnknown"

    // Calls a method, and then `done` with its first result.
    function call(object, iface, member, signature, parameters, done) {
        DBus.SessionBus.asyncCall({
            service: name, path: "/org/imagefeed/ImageFeed1" + object, iface: iface, member: member,
            signature: signature, arguments: parameters
        }, reply => { slideshow.notice = ""; done(plain(reply.value)) }, reply => fail(plain(reply.error)))
    }
    function fail(error) {
        if (error.name === unknown) slideshow.problem = slideshow.notInstalled
        else slideshow.notice = error.message
    }
    // Converts the numbers and strings of the module, which are objects, to those of JavaScript.
    function plain(value) {
        return JSON.parse(JSON.stringify([value], (key, item) => item && item.value !== undefined ? item.value : item))[0]
    }

    function attach() {
        slideshow.problem = ""
        const begin = () => orient(() => call(path, object.iface, "Attach", "", [], () => object.updateAll()))
        if (slideshow.name) call("", name + ".Manager", "OpenSlideshow", "(s)", [slideshow.name], begin)
        else begin()
    }
    function refresh() {
        call(path, "org.freedesktop.DBus.Properties", "GetAll", "(s)", [object.iface], slideshow.update)
    }
    function act(action) {
        const id = slideshow.photo.id
        if (action === "next") call(path, object.iface, "Next", "", [], refresh)
        else if (action === "hide") call(path, object.iface, "Hide", "(s)", [id], refresh)
        else if (action === "toggle") call("/combined", name + ".Like", "Toggle", "(s)", [id], refresh)
        else call("/combined", name + ".Feed", "GetImage", "(ss)", [id, "full"],
            path => Qt.openUrlExternally(slideshow.fileURL(path)))
    }
    function set(setting, value) {
        // The module cannot send a structure, which is the type of the source.
        if (setting === "source") return run(setter(setting, value), (status, output, text) => slideshow.notice = text)
        object.properties[setting === "shuffle" ? "Shuffle" : "Interval"] = value
    }

    // Its values are not used: those of a signal may have another form than those of a reply.
    DBus.Properties {
        id: object
        service: backend.name
        path: "/org/imagefeed/ImageFeed1" + backend.path
        iface: backend.name + ".Slideshow"
        onPropertiesChanged: backend.refresh()
    }
    DBus.DBusServiceWatcher {
        id: owner
        watchedService: backend.name
        onRegisteredChanged: if (registered && backend.slideshow) backend.attach()
    }
    // A slideshow that was removed may be created again.
    DBus.SignalWatcher {
        service: backend.name
        path: "/org/imagefeed/ImageFeed1"
        iface: "org.freedesktop.DBus.ObjectManager"
        function dbusInterfacesAdded(path) {
            if (backend.slideshow && backend.plain(path) === object.path) backend.attach()
        }
        function dbusInterfacesRemoved() {}
    }
    // An upgrade restarts the daemon within this time.
    Timer {
        interval: 10000
        running: !owner.registered
        onTriggered: {
            backend.slideshow.problem = backend.slideshow.notRunning
            DBus.SessionBus.asyncCall({
                service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", iface: "org.freedesktop.DBus",
                member: "ListActivatableNames"
            }, reply => {
                if (!backend.plain(reply.value).includes(backend.name)) backend.fail({ name: backend.unknown })
            }, reply => {})
        }
    }
}
