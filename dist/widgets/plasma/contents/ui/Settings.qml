// SPDX-License-Identifier: Apache-2.0
// The settings of the slideshow, which all widgets share unless this one has a slideshow of its own. They apply at once.
import QtQuick 2.15
import QtQuick.Layouts 1.15
import org.kde.plasma.components 3.0 as PlasmaComponents

GridLayout {
    id: settings

    property Slideshow slideshow
    property string fit
    property bool everyShape
    signal fitChosen(string choice)
    signal nameChosen(string name)
    signal everyShapeChosen(bool choice)
    readonly property var source: slideshow.state.Source || ["", ""]

    columns: 2
    onVisibleChanged: if (visible) slideshow.item.listSources()

    // A list of choices, each with its text and value. Another value is shown below them, and cannot be chosen.
    component Choice: PlasmaComponents.ComboBox {
        property string name
        // Applies a value.
        property var choose: value => settings.slideshow.item.set(name, value)
        property var value
        property var choices
        readonly property int index: choices.findIndex(choice => choice[1] === value)
        Layout.fillWidth: true
        model: choices.map(choice => choice[0]).concat(index < 0 ? [String(value)] : [])
        currentIndex: index < 0 ? choices.length : index
        onActivated: row => { if (row < choices.length) choose(choices[row][1]) }
    }

    PlasmaComponents.Label { text: i18n("Photos:") }
    Choice {
        name: "source"
        value: settings.source[0].split("/").pop() + (settings.source[1] ? ":" + settings.source[1] : "")
        choices: [[i18n("All"), "combined"], [i18n("Likes"), "combined:likes"], [i18n("Memories"), "combined:memories"]]
            .concat(settings.slideshow.accountSources)
    }
    PlasmaComponents.Label { text: i18n("Interval:") }
    Choice {
        name: "interval"
        value: settings.slideshow.state.Interval || 0
        choices: [[i18n("1 minute"), 60], [i18n("10 minutes"), 600], [i18n("30 minutes"), 1800], [i18n("1 hour"), 3600],
            [i18n("1 day"), 86400], [i18n("No timer"), 0]]
    }
    PlasmaComponents.Label { text: i18n("Other shapes:") }
    Choice {
        value: settings.fit
        choices: [[i18n("Blurred edges"), "blurred"], [i18n("Whole photo"), "whole"], [i18n("Fill the widget"), "filled"]]
        choose: value => settings.fitChosen(value)
    }
    PlasmaComponents.CheckBox {
        Layout.columnSpan: 2
        text: i18n("Random order")
        checked: settings.slideshow.state.Shuffle === true
        onToggled: settings.slideshow.item.set("shuffle", checked)
    }
    PlasmaComponents.Label { text: i18n("Slideshow:") }
    PlasmaComponents.TextField {
        Layout.fillWidth: true
        text: settings.slideshow.name
        placeholderText: i18n("Shared by all widgets")
        Accessible.name: i18n("Name of a slideshow of its own")
        validator: RegularExpressionValidator { regularExpression: /[a-z0-9_]{0,32}/ }
        onEditingFinished: settings.nameChosen(text)
    }
    PlasmaComponents.CheckBox {
        Layout.columnSpan: 2
        visible: settings.slideshow.name !== ""
        text: i18n("Photos of every shape")
        checked: settings.everyShape
        onToggled: settings.everyShapeChosen(checked)
    }
}
