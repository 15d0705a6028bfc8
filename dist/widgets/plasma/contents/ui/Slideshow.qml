// SPDX-License-Identifier: Apache-2.0
// The state of the daemon's slideshow, and its methods. The first of the backends that loads supplies both.
import QtQuick 2.15

FirstOf {
    id: slideshow

    // The properties of the interface Slideshow; empty before the first reply.
    property var state: ({})
    // The reason why no photo can be shown; empty if there is none.
    property string problem: ""
    // The error of the last action.
    property string notice: ""

    readonly property var photo: state.Photo && state.Photo.id ? state.Photo : null
    readonly property string title: photo ? String(photo.title || photo.description || "") : ""
    readonly property string author: photo ? String(photo.author || "") : ""
    readonly property bool isPending: photo !== null && photo.pending === true
    readonly property bool isLiked: photo !== null && (photo.liked === true) !== isPending
    // The bytes of the path that have a meaning in a URL are percent-encoded.
    readonly property url image: photo && state.Image
        ? "file://" + String(state.Image).split("/").map(encodeURIComponent).join("/") : ""

    readonly property string noPhoto: "There is no photo. Log in with “imagefeedctl login”, or see “imagefeedctl status”."
    readonly property string notInstalled: "Image Feed is not installed. Install the package “imagefeed”."
    readonly property string notRunning: "The Image Feed daemon is not running."

    function update(properties) {
        state = properties
        problem = photo ? "" : noPhoto
    }

    // Before Plasma 6.4, QML cannot follow signals, and the first file does not load.
    files: ["BusBackend.qml", "CommandBackend.qml"]
    onLoaded: {
        item.slideshow = slideshow
        item.attach()
    }
}
