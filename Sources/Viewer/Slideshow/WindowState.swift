internal import Toolkit

/// The size and position of the window of a slideshow, kept in `XDG_STATE_HOME`.
nonisolated struct WindowState {
    var width: Int
    var height: Int
    /// nil if the display does not tell positions.
    var position: (x: Int, y: Int)?
    /// True if the window shows photos of every shape, false for those of its own shape.
    var showsEveryShape = false

    private static let everyShape: Substring = "every-shape"

    /// The state as it is stored: two or four numbers, and perhaps a word.
    var text: String {
        var words = [width, height].map { "\($0)" }
        if let position { words += ["\(position.x)", "\(position.y)"] }
        if showsEveryShape { words.append(String(Self.everyShape)) }
        return words.joined(separator: " ")
    }

    /// The orientation of the photos that the window shows, unless it shows those of every shape.
    ///
    /// A window that is nearly square shows both.
    var shape: String {
        if width * 4 >= height * 5 { return "landscape" }
        return height * 4 >= width * 5 ? "portrait" : "any"
    }

    init(width: Int, height: Int, position: (x: Int, y: Int)? = nil) {
        self.width = width
        self.height = height
        self.position = position
    }

    /// Reads a stored state; nil if it is damaged.
    init?(_ text: String) {
        var words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })[...]
        let showsEveryShape = words.last == Self.everyShape
        if showsEveryShape { words.removeLast() }
        let numbers = words.compactMap { Int($0) }
        guard numbers.count == 2 || numbers.count == 4,
            numbers.prefix(2).allSatisfy({ (100...10_000).contains($0) }),
            numbers.dropFirst(2).allSatisfy({ (-10_000...30_000).contains($0) })
        else { return nil }
        self.init(
            width: numbers[0], height: numbers[1],
            position: numbers.count == 4 ? (numbers[2], numbers[3]) : nil)
        self.showsEveryShape = showsEveryShape
    }

    /// Reads the state of the window of a slideshow.
    static func load(_ slideshow: String) -> WindowState? {
        WindowState(UserFile.read("\(UserFile.stateFolder)/\(file(slideshow))"))
    }

    func save(_ slideshow: String) {
        UserFile.write("\(text)\n", to: UserFile.stateFolder, Self.file(slideshow))
    }

    private static func file(_ slideshow: String) -> String {
        slideshow.isEmpty ? "slideshow-window" : "slideshow-window-\(slideshow)"
    }
}

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
