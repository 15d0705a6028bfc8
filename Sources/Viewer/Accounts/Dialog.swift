internal import Toolkit

extension Box {
    /// Creates a fact with its title above it.
    convenience init(fact title: String, _ value: Widget) {
        self.init(
            .vertical, spacing: 2,
            Label(title).styled("caption", "dim-label").aligned(.start, .start), value)
    }
}

/// A dialog with a header and a scrollable column of widgets.
final class Dialog {
    let window: Window
    let header = HeaderBar()
    let content = Box(.vertical, spacing: 18)
    /// Called when the dialog is closed.
    var onClosed: (() -> Void)?

    /// The dialogs on the screen. They exist until they are closed.
    private static var open: [Dialog] = []

    init(_ parent: Window, title: String, width: Int = 440, height: Int = 480) {
        // On a narrow screen, the parent is narrow.
        window = Window(
            dialogOf: parent, title: title, width: min(width, max(parent.width, 320)),
            height: height)
        header.setTitle(title)
        content.margins(18)
        let scroll = ScrollArea(Clamp(content, maximumWidth: 560))
        scroll.expanding()
        window.setContent(Box(.vertical, spacing: 0, header, scroll))
        window.onClose = { [weak self] in
            self?.closed()
            return false
        }
    }

    func present() {
        Self.open.append(self)
        window.present()
    }

    func close() { window.close() }

    private func closed() {
        // The handler may refer to the owner of this dialog.
        let handler = onClosed
        onClosed = nil
        handler?()
        // The window still exists while its signal is handled.
        Task { Self.open.removeAll { $0 === self } }
    }
}
