// SPDX-License-Identifier: Apache-2.0
// The photo with its buttons, and the settings.
import QtQuick 2.15
import QtQuick.Controls 2.15 as Controls
import QtQuick.Layouts 1.15
import org.kde.kirigami 2.20 as Kirigami
import org.kde.plasma.components 3.0 as PlasmaComponents

ColumnLayout {
    id: view

    property Slideshow slideshow
    readonly property bool hasPhoto: slideshow.problem === "" && slideshow.photo !== null

    Layout.minimumWidth: Kirigami.Units.gridUnit * 12
    Layout.minimumHeight: Kirigami.Units.gridUnit * 10
    Layout.preferredWidth: Kirigami.Units.gridUnit * 24
    Layout.preferredHeight: Kirigami.Units.gridUnit * 20

    component ActionButton: PlasmaComponents.ToolButton {
        property string label
        enabled: view.hasPhoto
        Accessible.name: label
        PlasmaComponents.ToolTip { text: parent.label }
    }

    Item {
        Layout.fillWidth: true
        Layout.fillHeight: true

        Image {
            anchors.fill: parent
            visible: view.hasPhoto && !settings.visible
            source: visible ? view.slideshow.image : ""
            fillMode: Image.PreserveAspectFit
            autoTransform: true
            asynchronous: true
            cache: false
            sourceSize: Qt.size(1024, 1024)
            Accessible.role: Accessible.Graphic
            Accessible.name: view.slideshow.photo ? String(view.slideshow.photo.description || view.slideshow.title) : ""
        }
        Settings {
            id: settings
            anchors.centerIn: parent
            visible: configure.checked && view.slideshow.state.Interval !== undefined
            slideshow: view.slideshow
        }
        ColumnLayout {
            anchors.centerIn: parent
            width: parent.width
            visible: view.slideshow.problem !== "" && !settings.visible
            PlasmaComponents.Label {
                Layout.fillWidth: true
                text: view.slideshow.problem
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                horizontalAlignment: Text.AlignHCenter
            }
            PlasmaComponents.Button {
                Layout.alignment: Qt.AlignHCenter
                text: "Try Again"
                icon.name: "view-refresh"
                onClicked: view.slideshow.item.attach()
            }
        }
    }
    PlasmaComponents.Label {
        Layout.fillWidth: true
        visible: text !== ""
        text: view.slideshow.notice
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        maximumLineCount: 3
        elide: Text.ElideRight
    }
    RowLayout {
        PlasmaComponents.Label {
            Layout.fillWidth: true
            text: [view.slideshow.title, view.slideshow.author].filter(part => part !== "").join(" – ")
            textFormat: Text.PlainText
            elide: Text.ElideRight
            visible: view.hasPhoto
        }
        Item { Layout.fillWidth: !view.hasPhoto }
        ActionButton {
            label: view.slideshow.isPending ? "The service has not confirmed this yet" : view.slideshow.isLiked ? "Unlike" : "Like"
            text: view.slideshow.isLiked ? "♥" : "♡"
            display: Controls.AbstractButton.TextOnly
            opacity: view.slideshow.isPending ? 0.5 : 1
            onClicked: view.slideshow.item.toggle()
        }
        ActionButton {
            label: "Open"
            icon.name: "document-open"
            onClicked: view.slideshow.item.open()
        }
        ActionButton {
            label: "Hide This Photo"
            icon.name: "view-hidden"
            onClicked: view.slideshow.item.hide()
        }
        ActionButton {
            label: "Next"
            icon.name: "go-next"
            onClicked: view.slideshow.item.next()
        }
        ActionButton {
            id: configure
            label: "Settings"
            icon.name: "configure"
            enabled: true
            checkable: true
        }
    }
}
