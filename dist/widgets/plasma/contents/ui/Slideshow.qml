// SPDX-License-Identifier: Apache-2.0
// The state of the slideshow, and the actions of the backend: attach(), orient(done), act(name), set(property, choice)
// and listSources().
import QtQuick 2.15

FirstOf {
    id: slideshow

    // The name of a slideshow of the widget's own; empty for the one that all widgets share.
    property string name: ""
    // The orientation of the photos of such a slideshow; empty while it is unknown.
    property string orientation: ""
    // The properties of the D-Bus interface Slideshow; empty before the first reply.
    property var state: ({})
    // The reason why no photo can be shown; empty if there is none.
    property string problem: ""
    // The error of the last action.
    property string notice: ""
    // The sources of each account, as pairs of a title and a value of “imagefeedctl slideshow set --source”.
    property var accountSources: []

    readonly property var photo: state.Photo && state.Photo.id ? state.Photo : null
    readonly property string caption:
        photo ? oneLine([photo.title || photo.description, photo.author].filter(part => part).join(" – ")) : ""
    readonly property bool isPending: photo !== null && photo.pending
    // The wanted state. While a like is pending, it is the opposite of the confirmed state.
    readonly property bool isLiked: photo !== null && photo.liked !== isPending

    readonly property string noPhoto: i18n("There is no photo. See “imagefeedctl login” and “imagefeedctl status”.")
    readonly property string notInstalled: i18n("Image Feed is not installed. Install the package “imagefeed”.")
    readonly property string notRunning: i18n("The Image Feed daemon is not running.")

    function update(properties) {
        state = properties
        problem = photo ? "" : noPhoto
    }
    // Returns a text as one line, because the title of a post may have many.
    function oneLine(text) { return text.replace(/\s+/g, " ").trim() }
    function fileURL(path) { return "file://" + path.split("/").map(encodeURIComponent).join("/") }

    // Before Plasma 6.4, QML cannot follow signals, and the first file does not load.
    files: ["BusBackend.qml", "CommandBackend.qml"]
    onNameChanged: {
        if (!active) return
        // The backend of the other slideshow ends its processes.
        active = false
        state = {}
        active = true
    }
    onOrientationChanged: if (status === Loader.Ready) item.orient(() => {})
    onLoaded: { item.slideshow = slideshow; item.attach() }
}
