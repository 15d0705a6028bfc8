internal import Toolkit
internal import Translation

/// The table of keys.
enum ShortcutsDialog {
    static func present(_ parent: Window) {
        let dialog = Dialog(parent, title: tr("Keyboard shortcuts"), width: 560, height: 640)
        let titles = [tr("In the grid of photos"), tr("In a photo"), tr("In all pages")]
        for (place, title) in zip(Shortcut.Place.allCases, titles) {
            let group = RowGroup(title)
            for (keys, text) in Shortcut.help(place) {
                group.add(row: ActionRow(keys, subtitle: text))
            }
            dialog.content.append(group)
        }
        dialog.present()
    }
}
