internal import System
internal import Toolkit

/// The header and the buttons of a photo in full screen, which appear on a movement or tap and hide after some seconds.
final class FullScreenControls {
    /// The place of the header in full screen, above the photo.
    let revealer = Revealer().aligned(.fill, .start)
    /// Called when full screen begins or ends.
    var onChange: ((_ isFullScreen: Bool) -> Void)?

    private let window: Window
    private let header: HeaderBar
    private let view: PhotoView
    private let steps: [Button]
    /// Returns true while a menu is open.
    private let hasMenu: () -> Bool
    private let page: Box
    /// The position of the pointer in the page.
    private var pointer = (x: 0.0, y: 0.0)
    private lazy var timer = MainLoopTimer { [weak self] in self?.hide() }

    /// The time without a movement of the pointer after which the controls hide.
    private static let time = Duration.seconds(3)

    init(
        _ page: Box, _ window: Window, _ header: HeaderBar, _ view: PhotoView, _ steps: [Button],
        hasMenu: @escaping () -> Bool
    ) {
        self.page = page
        self.hasMenu = hasMenu
        self.window = window
        self.header = header
        self.view = view
        self.steps = steps
    }

    /// Moves the header between the page and the place above the photo.
    ///
    /// - Parameter overlay: The photo with its buttons.
    func connect(_ overlay: Overlay) {
        revealer.styled("full-screen")
        window.onFullScreenChange { [weak self] in self?.update() }
        overlay.onPointer(
            moved: { [weak self] x, y in
                // Widgets that appear below a resting pointer also cause events.
                guard let self, pointer != (x, y) else { return }
                pointer = (x, y)
                show()
            })
        view.widget.onPress { [weak self] _, _, _ in self?.show() }
    }

    private func update() {
        let isFullScreen = window.isFullScreen
        guard isFullScreen != (revealer.child != nil) else { return }
        if isFullScreen {
            page.remove(header)
            revealer.child = header
            show()
        } else {
            revealer.child = nil
            page.prepend(header)
            timer.cancel()
            setIdle(false)
        }
        onChange?(isFullScreen)
    }

    /// Shows the controls for some seconds if the window fills the screen.
    func show() {
        guard revealer.child != nil else { return }
        revealer.isRevealed = true
        setIdle(false)
        timer.start(after: Self.time)
    }

    private func hide() {
        // A user who moves the focus with the keyboard sees it; a menu closes with its button.
        let isInUse = revealer.hasFocusWithin && window.isFocusVisible || hasMenu()
        guard !isInUse else { return timer.start(after: Self.time) }
        if revealer.hasFocusWithin { view.widget.grabFocus() }
        revealer.isRevealed = false
        setIdle(true)
    }

    private func setIdle(_ isIdle: Bool) {
        page.setClass("idle", isIdle)
        view.isCursorHidden = isIdle
        // An invisible button must not react to touch.
        for step in steps { step.setTargetable(!isIdle) }
    }
}
