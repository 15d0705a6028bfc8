internal import Toolkit

/// The number of selected photos, with the actions for all of them.
final class SelectionBar {
    nonisolated enum Action: String, CaseIterable, Sendable {
        case like = "Like"
        case unlike = "Unlike"
        case download = "Download"
        case mail = "Send by e-mail"
        case trash = "Move to the trash"
        case cancel = "End the selection"

        var icon: String {
            switch self {
            case .like: "emote-love-symbolic"
            case .unlike: "edit-undo-symbolic"
            case .download: "document-save-symbolic"
            case .mail: "mail-send-symbolic"
            case .trash: "user-trash-symbolic"
            case .cancel: "window-close-symbolic"
            }
        }
    }

    let widget: Revealer
    var onAction: ((Action) -> Void)?
    private let label = Label()
    private var buttons: [Action: Button] = [:]

    init() {
        let box = Box(.horizontal, spacing: 6, label.ellipsizing())
        label.expanding(vertically: false)
        box.styled("toolbar", "feed-selection")
        widget = Revealer(box)
        widget.setAccessibleName("Selected photos")
        for action in Action.allCases {
            let button = Button(icon: action.icon, tooltip: action.rawValue) { [weak self] in
                self?.onAction?(action)
            }
            button.styled("flat")
            buttons[action] = button
            box.append(button)
        }
    }

    /// Shows a number of photos and the actions that some of them have; hides the bar for none.
    func show(_ count: Int, _ actions: Set<Action>) {
        widget.isRevealed = count > 0
        guard count > 0 else { return }
        label.text = "\(Photo.text(ofCount: count)) selected"
        for (action, button) in buttons { button.isVisible = actions.contains(action) }
    }
}
