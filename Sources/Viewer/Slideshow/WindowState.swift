internal import Glibc

/// The size and position of the slideshow window, kept in `XDG_STATE_HOME`.
nonisolated struct WindowState: Equatable {
    var width: Int
    var height: Int
    /// nil if the display does not tell positions.
    var position: (x: Int, y: Int)?

    static func == (left: Self, right: Self) -> Bool { left.text == right.text }

    /// The state as it is stored: two or four numbers.
    var text: String {
        let size = "\(width) \(height)"
        return position.map { "\(size) \($0.x) \($0.y)" } ?? size
    }

    init(width: Int, height: Int, position: (x: Int, y: Int)? = nil) {
        self.width = width
        self.height = height
        self.position = position
    }

    /// Reads a stored state; nil if it is damaged.
    init?(_ text: String) {
        let numbers = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).compactMap { Int($0) }
        guard numbers.count == 2 || numbers.count == 4,
            numbers.prefix(2).allSatisfy({ (100...10_000).contains($0) }),
            numbers.dropFirst(2).allSatisfy({ (-10_000...30_000).contains($0) })
        else { return nil }
        self.init(
            width: numbers[0], height: numbers[1],
            position: numbers.count == 4 ? (numbers[2], numbers[3]) : nil)
    }

    private static var folder: String {
        if let state = getenv("XDG_STATE_HOME").map({ String(cString: $0) }), state.hasPrefix("/") {
            return "\(state)/imagefeed"
        }
        let home = getenv("HOME").map { String(cString: $0) } ?? "/"
        return "\(home)/.local/state/imagefeed"
    }

    static func load() -> WindowState? {
        guard let file = fopen("\(folder)/slideshow-window", "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = fread(&buffer, 1, buffer.count, file)
        return WindowState(String(decoding: buffer.prefix(count), as: UTF8.self))
    }

    func save() {
        // All folders of the path; those that exist are not changed.
        var path = ""
        for part in Self.folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o700)
        }
        guard let file = fopen("\(Self.folder)/slideshow-window", "we") else { return }
        fputs(text + "\n", file)
        fclose(file)
    }
}
