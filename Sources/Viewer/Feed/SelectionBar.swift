internal import Toolkit
internal import Translation

/// The number of selected photos, with the actions for all of them.
final class SelectionBar {
    let widget: Revealer
    /// Called before an action.
    var onAction: (() -> Void)?
    private let label = Label().ellipsizing().expanding(vertically: false)
    private let buttons = Box(.horizontal, spacing: 6)

    init() {
        let box = Box(.horizontal, spacing: 6, label, buttons)
        widget = Revealer(box.styled("toolbar", "feed-selection"))
        widget.setAccessibleName(tr("Selected photos"))
    }

    /// Shows a number of photos and their actions; hides the bar for none.
    func show(_ count: Int, _ actions: [PhotoActions.Entry]) {
        widget.isRevealed = count > 0
        guard count > 0 else { return }
        label.text = trn("{count} photo selected", "{count} photos selected", count)
        buttons.removeAll()
        for entry in actions {
            let button = Button(icon: entry.icon, tooltip: entry.title) { [weak self] in
                self?.onAction?()
                entry.action()
            }
            buttons.append(button.styled("flat"))
        }
    }
}
