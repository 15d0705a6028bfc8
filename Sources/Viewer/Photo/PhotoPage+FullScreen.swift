internal import System
internal import Toolkit

/// The header and the buttons of a photo in full screen, which appear on a movement or tap and hide after some seconds.
extension PhotoPage {
    /// The time without a movement of the pointer after which the controls hide.
    private static let controlsTime = Duration.seconds(3)

    /// - Parameter overlay: The photo with its buttons.
    func connectFullScreen(_ overlay: Widget) {
        window.onFullScreenChange { [weak self] in self?.updateFullScreen() }
        overlay.onPointer { [weak self] x, y in
            // Widgets that appear below a resting pointer also cause events.
            guard let self, pointer != (x, y) else { return }
            pointer = (x, y)
            showControls()
        }
        view.widget.onPress { [weak self] _, _, _ in self?.showControls() }
    }

    /// Moves the header between the page and the place above the photo.
    private func updateFullScreen() {
        let isFullScreen = window.isFullScreen
        guard isFullScreen != (headerRevealer.child != nil) else { return }
        fullScreenButton.isVisible = !isFullScreen
        leaveButton.isVisible = isFullScreen
        if isFullScreen {
            flap.isRevealed = false
            widget.remove(header)
            headerRevealer.child = header
            showControls()
        } else {
            headerRevealer.child = nil
            widget.prepend(header)
            controlsTimer.cancel()
            setIdle(false)
            endSlideshow()
        }
    }

    /// Shows the controls for some seconds if the window fills the screen.
    func showControls() {
        guard headerRevealer.child != nil else { return }
        headerRevealer.isRevealed = true
        setIdle(false)
        controlsTimer.start(after: Self.controlsTime)
    }

    func hideControls() {
        // A user who moves the focus with the keyboard sees it; a menu closes with its button.
        let hasFocus = headerRevealer.hasFocusWithin
        let hasMenu = menuButton.menu.isVisible || contextMenu.isVisible
        guard !hasMenu, !(hasFocus && window.isFocusVisible) else {
            return controlsTimer.start(after: Self.controlsTime)
        }
        if hasFocus { view.widget.grabFocus() }
        headerRevealer.isRevealed = false
        setIdle(true)
    }

    private func setIdle(_ isIdle: Bool) {
        widget.setClass("idle", isIdle)
        view.isCursorHidden = isIdle
        // An invisible button must not react to touch.
        for step in [previousButton, nextButton] { step.setTargetable(!isIdle) }
    }
}
