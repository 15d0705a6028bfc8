internal import Toolkit

/// The place of the slideshow window: below other windows if the display supports this, else that of an ordinary window.
final class WidgetPlacement {
    private var layer: LayerSurface?
    private let desktop: DesktopWindow?

    /// - Parameter window: A window that is not shown yet.
    init(_ window: Window) {
        layer = LayerSurface(window, name: "imagefeed-slideshow")
        desktop = layer == nil ? DesktopWindow(window) : nil
        desktop?.placeOnDesktop()
    }

    /// The position of the window; nil if the display does not tell it.
    var position: (x: Int, y: Int)? { layer?.position ?? desktop?.position }

    func present(_ window: Window, at position: (x: Int, y: Int)?) {
        // The position of a layer surface is set before it appears, that of a window afterwards.
        if let position { layer?.move(x: position.x, y: position.y) }
        window.present()
        if let position { desktop?.move(x: position.x, y: position.y) }
    }

    /// Makes a widget move the window when it is dragged.
    func moving(_ widget: Widget) -> Widget {
        guard layer != nil else { return WindowHandle(widget) }
        // Compositors do not move layer surfaces. The pointer's distance is relative to the window, which follows it.
        widget.onDrag { [weak self] phase, x, y, _ in
            guard let self, phase == .changed, let position else { return }
            layer?.move(x: position.x + Int(x), y: position.y + Int(y))
        }
        return widget
    }
}
