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
    private weak var overlay: Overlay?
    /// The position of the pointer in the page.
    private var pointer = (x: 0.0, y: 0.0)
    private lazy var timer = MainLoopTimer { [weak self] in self?.hide() }

    /// The time without a movement of the pointer after which the controls hide.
    private static let time = Duration.seconds(3)

    init(_ window: Window, _ header: HeaderBar, _ view: PhotoView, _ steps: [Button]) {
        self.window = window
        self.header = header
        self.view = view
        self.steps = steps
    }

    /// Moves the header between the page and the place above the photo.
    ///
    /// - Parameters:
    ///   - page: The page, whose first child is the header.
    ///   - overlay: The photo with its buttons.
    func connect(_ page: Box, _ overlay: Overlay) {
        self.overlay = overlay
        window.onFullScreenChange { [weak self, weak page] in
            guard let self, let page else { return }
            update(page)
        }
        overlay.onPointer(
            moved: { [weak self] x, y in
                // Widgets that appear below a resting pointer also cause events.
                guard let self, pointer != (x, y) else { return }
                pointer = (x, y)
                show()
            }, left: { [weak self] in self?.pointer = (0, .infinity) })
        view.widget.onPress { [weak self] _, _, _ in self?.show() }
    }

    private func update(_ page: Box) {
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
        guard pointer.y > Double(revealer.height), !revealer.hasFocusWithin else {
            return timer.start(after: Self.time)
        }
        revealer.isRevealed = false
        setIdle(true)
    }

    private func setIdle(_ isIdle: Bool) {
        overlay?.setClass("idle", isIdle)
        view.isCursorHidden = isIdle
        // An invisible button must not react to touch.
        for step in steps { step.setTargetable(!isIdle) }
    }
}
