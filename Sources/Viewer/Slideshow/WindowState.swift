internal import Toolkit

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

    static func load() -> WindowState? {
        WindowState(UserFile.read("\(UserFile.stateFolder)/slideshow-window"))
    }

    func save() { UserFile.write("\(text)\n", to: UserFile.stateFolder, "slideshow-window") }
}
