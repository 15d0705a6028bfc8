// SPDX-License-Identifier: Apache-2.0
// The photo with its buttons, and the settings.
import QtQuick 2.15
import QtQuick.Layouts 1.15
import org.kde.kirigami 2.20 as Kirigami
import org.kde.plasma.components 3.0 as PlasmaComponents

ColumnLayout {
    id: view

    property Slideshow slideshow
    property string fit: "blurred"
    property bool everyShape: false
    signal fitChosen(string choice)
    signal nameChosen(string name)
    signal everyShapeChosen(bool choice)
    // The orientation of the photos for the shape of the widget. One that is nearly square shows both.
    readonly property string shape: {
        if (area.width <= 0 || area.height <= 0) return ""
        if (everyShape) return "any"
        if (area.width * 4 >= area.height * 5) return "landscape"
        return area.height * 4 >= area.width * 5 ? "portrait" : "any"
    }
    readonly property bool hasPhoto: slideshow.problem === "" && slideshow.photo !== null

    Layout.minimumWidth: Kirigami.Units.gridUnit * 12
    Layout.preferredWidth: Kirigami.Units.gridUnit * 24
    Layout.preferredHeight: Kirigami.Units.gridUnit * 20

    component PlainLabel: PlasmaComponents.Label {
        Layout.fillWidth: true
        textFormat: Text.PlainText
        elide: Text.ElideRight
    }
    component ActionButton: PlasmaComponents.ToolButton {
        property string label
        property string perform
        enabled: view.hasPhoto || checkable
        Accessible.name: label
        onClicked: if (perform) view.slideshow.item.act(perform)
        PlasmaComponents.ToolTip { text: parent.label }
    }

    // The shape changes several times while the widget is created or resized.
    onShapeChanged: shaping.restart()
    Timer { id: shaping; interval: 500; onTriggered: view.slideshow.orientation = view.shape }

    Item {
        id: area
        Layout.fillWidth: true
        Layout.fillHeight: true
        Photo {
            anchors.fill: parent
            visible: view.hasPhoto && !configure.checked
            source: view.hasPhoto ? view.slideshow.fileURL(view.slideshow.state.Image) : ""
            fit: view.fit
            Accessible.role: Accessible.Graphic
            Accessible.name: view.slideshow.caption
        }
        Settings {
            anchors.centerIn: parent
            width: Math.min(implicitWidth, parent.width)
            visible: configure.checked
            slideshow: view.slideshow
            fit: view.fit
            everyShape: view.everyShape
            onFitChosen: choice => view.fitChosen(choice)
            onNameChosen: name => view.nameChosen(name)
            onEveryShapeChosen: choice => view.everyShapeChosen(choice)
        }
        ColumnLayout {
            anchors.centerIn: parent
            width: parent.width
            visible: view.slideshow.problem !== "" && !configure.checked
            PlainLabel { text: view.slideshow.problem; wrapMode: Text.Wrap; horizontalAlignment: Text.AlignHCenter }
            PlasmaComponents.Button {
                Layout.alignment: Qt.AlignHCenter
                text: i18n("Try Again")
                onClicked: view.slideshow.item.attach()
            }
        }
    }
    PlainLabel { visible: text !== ""; text: view.slideshow.notice; wrapMode: Text.Wrap; maximumLineCount: 3 }
    RowLayout {
        PlainLabel { text: view.hasPhoto ? view.slideshow.caption : "" }
        ActionButton {
            label: view.slideshow.isPending ? i18n("Not confirmed yet")
                : view.slideshow.isLiked ? i18n("Unlike") : i18n("Like")
            text: view.slideshow.isLiked ? "♥" : "♡"
            opacity: view.slideshow.isPending ? 0.5 : 1
            perform: "toggle"
        }
        ActionButton { label: i18n("Open"); icon.name: "document-open"; perform: "open" }
        ActionButton { label: i18n("Hide This Photo"); icon.name: "view-hidden"; perform: "hide" }
        ActionButton { label: i18n("Next"); icon.name: "go-next"; perform: "next" }
        ActionButton { id: configure; label: i18n("Settings"); icon.name: "configure"; checkable: true }
    }
}
