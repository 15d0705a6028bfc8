// SPDX-License-Identifier: Apache-2.0
// The settings of the slideshow, which all widgets share. They apply at once.
import QtQuick 2.15
import QtQuick.Layouts 1.15
import org.kde.plasma.components 3.0 as PlasmaComponents

GridLayout {
    id: settings

    property Slideshow slideshow
    readonly property int interval: Number(slideshow.state.Interval || 0)
    readonly property string source: slideshow.state.Source
        ? [String(slideshow.state.Source[0]).split("/").pop(), slideshow.state.Source[1]].filter(part => part !== "").join(":") : ""

    columns: 2

    // A list of choices with text, value and command. If the value is not in the list, another choice shows it.
    component Choice: PlasmaComponents.ComboBox {
        property var choices
        property var value
        property string other
        readonly property int index: choices.findIndex(choice => choice.value === value)

        Layout.fillWidth: true
        textRole: "text"
        model: index < 0 ? choices.concat({ text: other, value: value, command: "" }) : choices
        currentIndex: index < 0 ? choices.length : index
    }

    PlasmaComponents.Label { text: "Photos:" }
    Choice {
        choices: [
            { text: "All accounts", value: "combined", command: "imagefeedctl slideshow set --source combined" },
            { text: "Likes", value: "combined:likes", command: "imagefeedctl slideshow set --source combined:likes" },
            { text: "This day in earlier years", value: "combined:memories",
              command: "imagefeedctl slideshow set --source combined:memories" }
        ]
        value: settings.source
        other: settings.source
        onActivated: if (index < choices.length && choices[index].value !== value) settings.slideshow.item.setSource(choices[index])
    }
    PlasmaComponents.Label { text: "Next photo:" }
    Choice {
        choices: [
            { text: "After 1 minute", value: 60, command: "imagefeedctl slideshow set --interval 1m" },
            { text: "After 10 minutes", value: 600, command: "imagefeedctl slideshow set --interval 10m" },
            { text: "After 30 minutes", value: 1800, command: "imagefeedctl slideshow set --interval 30m" },
            { text: "After 1 hour", value: 3600, command: "imagefeedctl slideshow set --interval 1h" },
            { text: "After 1 day", value: 86400, command: "imagefeedctl slideshow set --interval 24h" },
            { text: "Only with the button", value: 0, command: "imagefeedctl slideshow set --interval 0" }
        ]
        value: settings.interval
        other: "After " + settings.interval + " seconds"
        onActivated: if (index < choices.length) settings.slideshow.item.setInterval(choices[index])
    }
    PlasmaComponents.CheckBox {
        Layout.columnSpan: 2
        text: "Random order"
        checked: settings.slideshow.state.Shuffle === true
        onToggled: settings.slideshow.item.setShuffle(checked)
    }
}
