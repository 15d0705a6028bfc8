internal import Contract
internal import DBus
internal import Toolkit

extension Box {
    /// Creates a fact with its title above it.
    convenience init(fact title: String, _ value: Widget) {
        self.init(
            .vertical, spacing: 2,
            Label(title).styled("caption", "dim-label").aligned(.start, .start), value)
    }

    /// Adds a fact unless it is unknown.
    func add(fact title: String, _ text: String, link: String = "") {
        guard !text.isEmpty else { return }
        let value = Label(text).wrapping().selectable()
        if !link.isEmpty { value.setLink(link, title: text) }
        append(Box(fact: title, value))
    }
}

extension Button {
    /// Creates a round button in the middle.
    convenience init(
        pill title: String, isSuggested: Bool = false, _ action: @escaping () -> Void = {}
    ) {
        self.init(title, action)
        if isSuggested { styled("suggested-action") }
        styled("pill").aligned(.center, .start)
    }
}

extension Avatar {
    /// Creates the avatar of an account, whose image is loaded.
    convenience init(_ account: AccountProperties, size: Int, _ loader: ImageLoader) {
        self.init(size: size, name: account.shownName)
        guard !account.avatar.isEmpty else { return }
        // Screens have up to three pixels per unit.
        let key = ImageLoader.Key(
            account: ServiceName.root, photo: account.avatar, size: "full", width: 3 * size,
            height: 3 * size)
        setTexture(loader.cached(key)?.texture)
        Task { setTexture(try? await loader.load(key).texture) }
    }
}

/// A dialog with a header and a scrollable column of widgets. It exists until it is closed.
class Dialog {
    let window: Window
    let header = HeaderBar()
    let content = Box(.vertical, spacing: 18).margins(18)

    /// The dialogs on the screen.
    private static var open: [Dialog] = []

    init(_ parent: Window, title: String, width: Int = 440, height: Int = 480) {
        // On a narrow screen, the parent is narrow.
        window = Window(
            dialogOf: parent, title: title, width: min(width, max(parent.width, 320)),
            height: height)
        header.setTitle(title)
        let scroll = ScrollArea(content.clamped(to: 560)).expanding()
        window.setContent(Box(.vertical, spacing: 0, header, scroll))
        window.onClose = { [weak self] in
            self?.closed()
            // The window still exists while its signal is handled.
            Task { Self.open.removeAll { $0 === self } }
            return false
        }
    }

    func present() {
        Self.open.append(self)
        window.present()
    }

    func close() { window.close() }

    /// Called when the dialog is closed.
    func closed() {}

    /// Returns the read end of a pipe with a secret; nil if it is too long.
    static func secret(_ text: String) -> Variant? {
        Array(text.utf8).withUnsafeBytes { FileDescriptor.pipe(holding: $0) }
            .map { .fileDescriptor($0) }
    }
}
