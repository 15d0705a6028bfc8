internal import Toolkit

/// The table of keys.
enum ShortcutsDialog {
    static func present(_ parent: Window) {
        let dialog = Dialog(parent, title: "Keyboard shortcuts", width: 560, height: 640)
        for place in Shortcut.Place.allCases {
            let group = RowGroup(place.rawValue)
            for shortcut in Shortcut.all where shortcut.place == place {
                group.add(row: ActionRow(shortcut.label, subtitle: shortcut.text))
            }
            dialog.content.append(group)
        }
        dialog.present()
    }
}
