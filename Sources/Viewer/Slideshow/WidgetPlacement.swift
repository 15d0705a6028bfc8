internal import Toolkit

/// The place of the slideshow window: below other windows if the display supports this, else that of an ordinary window.
final class WidgetPlacement {
    private enum Kind {
        case layer(LayerSurface)
        case desktop(DesktopWindow)
        case ordinary
    }

    private var kind: Kind

    /// - Parameter window: A window that is not shown yet.
    init(_ window: Window) {
        if let layer = LayerSurface(window, name: "imagefeed-slideshow") {
            kind = .layer(layer)
        } else if let desktop = DesktopWindow(window) {
            desktop.placeOnDesktop()
            kind = .desktop(desktop)
        } else {
            kind = .ordinary
        }
    }

    /// The position of the window; nil if the display does not tell it.
    var position: (x: Int, y: Int)? {
        switch kind {
        case .layer(let layer): layer.position
        case .desktop(let desktop): desktop.position
        case .ordinary: nil
        }
    }

    func present(_ window: Window, at position: (x: Int, y: Int)?) {
        // The position of a layer surface is set before it appears, that of a window afterwards.
        if case .layer = kind, let position { move(position.x, position.y) }
        window.present()
        if case .desktop = kind, let position { move(position.x, position.y) }
    }

    private func move(_ x: Int, _ y: Int) {
        switch kind {
        case .layer(var layer):
            layer.move(x: x, y: y)
            kind = .layer(layer)
        case .desktop(let desktop): desktop.move(x: x, y: y)
        case .ordinary: break
        }
    }

    /// Makes a widget move the window when it is dragged.
    func moving(_ widget: Widget) -> Widget {
        guard case .layer = kind else { return WindowHandle(widget) }
        // Compositors do not move layer surfaces. The pointer's distance is relative to the window, which follows it.
        widget.onDrag { [weak self] phase, x, y, _ in
            guard let self, phase == .changed, let position else { return }
            move(position.x + Int(x), position.y + Int(y))
        }
        return widget
    }
}
