// SPDX-License-Identifier: Apache-2.0
// An image, which fades in over the previous one when it is loaded.
import QtQuick 2.15
import org.kde.kirigami 2.20 as Kirigami

Item {
    id: photo

    property url source
    // “blurred”, “whole” or “filled”.
    property string fit
    property Layer front: first

    onSourceChanged: {
        const back = front === first ? second : first
        back.source = source
        // An image that is loaded already does not change its status.
        if (source == "" || back.status === Image.Ready) front = back
    }

    component Layer: Item {
        id: layer
        property alias source: image.source
        readonly property alias status: image.status
        readonly property bool isFront: photo.front === layer

        anchors.fill: parent
        clip: true
        opacity: isFront ? 1 : 0
        visible: opacity > 0
        // A hidden layer does not keep its image in memory.
        onVisibleChanged: if (!visible && !isFront && photo.source != source) source = ""
        // The duration is 0 if the user wants no animations.
        Behavior on opacity { NumberAnimation { duration: Kirigami.Units.longDuration > 1 ? 500 : 0 } }
        // An image of few pixels, enlarged, is blurred.
        Image {
            anchors.fill: parent
            visible: photo.fit === "blurred"
            source: visible ? image.source : ""
            sourceSize.width: 16
            fillMode: Image.PreserveAspectCrop
            autoTransform: true
            asynchronous: true
            cache: false
        }
        Image {
            id: image
            anchors.fill: parent
            fillMode: photo.fit === "filled" ? Image.PreserveAspectCrop : Image.PreserveAspectFit
            autoTransform: true
            asynchronous: true
            cache: false
            onStatusChanged:
                if ((status === Image.Ready || status === Image.Error) && source == photo.source) photo.front = layer
        }
    }
    Layer { id: first }
    Layer { id: second }
}
