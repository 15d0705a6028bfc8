// SPDX-License-Identifier: Apache-2.0
// The slideshow by D-Bus, for Plasma 6.4 and later.
import QtQuick 2.15
import org.kde.plasma.workspace.dbus as DBus

Item {
    id: backend

    property var slideshow
    readonly property string name: "org.imagefeed.ImageFeed1"
    readonly property string root: "/org/imagefeed/ImageFeed1"
    readonly property string properties: "org.freedesktop.DBus.Properties"

    // Calls a method of an object below the root object, and then `done` with its first result.
    function call(object, iface, member, signature, parameters, done) {
        slideshow.notice = ""
        DBus.SessionBus.asyncCall({
            service: name, path: root + object, iface: iface, member: member, signature: signature, arguments: parameters
        }, reply => done(reply.value), reply => fail(reply.error))
    }
    function fail(error) {
        if (String(error.name) === "org.freedesktop.DBus.Error.ServiceUnknown") slideshow.problem = slideshow.notInstalled
        else slideshow.notice = String(error.message)
    }

    function attach() {
        slideshow.problem = ""
        call("/slideshow", name + ".Slideshow", "Attach", "", [], refresh)
    }
    function refresh() {
        call("/slideshow", properties, "GetAll", "(s)", [name + ".Slideshow"], value => slideshow.update(plain(value)))
    }
    function next() { call("/slideshow", name + ".Slideshow", "Next", "", [], refresh) }
    function hide() { call("/slideshow", name + ".Slideshow", "Hide", "(s)", [id()], refresh) }
    function toggle() { call("/combined", name + ".Like", "Toggle", "(s)", [id()], refresh) }
    function open() {
        call("/combined", name + ".Feed", "GetImage", "(ss)", [id(), "full"], path =>
            Qt.openUrlExternally("file://" + String(path).split("/").map(encodeURIComponent).join("/")))
    }
    function setShuffle(on) { set("Shuffle", new DBus.bool(on)) }
    function setInterval(choice) { set("Interval", new DBus.uint32(choice.value)) }
    // The QML module cannot send the structure that is the value of the property Source.
    function setSource(choice) {
        commands.run(choice.command, (status, output, error) => slideshow.notice = status === 0 ? "" : error)
    }

    function set(property, value) {
        call("/slideshow", properties, "Set", "(ssv)", [name + ".Slideshow", property, value], refresh)
    }
    function id() { return slideshow.photo ? slideshow.photo.id : "" }
    // Converts the module's types of numbers and strings, which are objects, to those of JavaScript.
    function plain(value) {
        if (typeof value !== "object" || value === null) return value
        if (Array.isArray(value)) return value.map(plain)
        const text = String(value)
        if (text !== "[object Object]") return text
        return Object.fromEntries(Object.entries(value).map(([key, value]) => [key, plain(value)]))
    }

    Commands { id: commands }
    DBus.SignalWatcher {
        service: backend.name
        path: backend.root + "/slideshow"
        iface: backend.properties
        function dbusPropertiesChanged() { backend.refresh() }
    }
    DBus.DBusServiceWatcher {
        watchedService: backend.name
        onRegisteredChanged: {
            if (!backend.slideshow) return
            if (registered) {
                absence.stop()
                backend.attach()
            } else {
                absence.start()
            }
        }
    }
    // An upgrade restarts the daemon within this time.
    Timer {
        id: absence
        interval: 10000
        onTriggered: {
            backend.slideshow.problem = backend.slideshow.notRunning
            DBus.SessionBus.asyncCall({
                service: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", iface: "org.freedesktop.DBus",
                member: "ListActivatableNames"
            }, reply => {
                if (!reply.value.map(String).includes(backend.name)) backend.slideshow.problem = backend.slideshow.notInstalled
            }, reply => backend.fail(reply.error))
        }
    }
}
