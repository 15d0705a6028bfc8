internal import Toolkit

/// The size of the main window and of its thumbnails, and the source that it shows, which a start restores.
nonisolated struct MainWindowState: Equatable {
    var width = 1100
    var height = 760
    var isMaximized = false
    var thumbnails = ThumbnailSize.medium
    /// The object path of the account; empty if there is none.
    var account = ""
    var source = ""

    init() {}

    /// Reads a stored state. The values of damaged parts are those of the first start.
    init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let numbers = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
        if numbers.count == 4, numbers.prefix(2).allSatisfy({ (200...20_000).contains($0) }) {
            (width, height, isMaximized) = (numbers[0], numbers[1], numbers[2] != 0)
            thumbnails = ThumbnailSize(rawValue: numbers[3]) ?? .medium
        }
        guard lines.count >= 3 else { return }
        (account, source) = (lines[1], lines[2])
    }

    /// The state as it is stored: the sizes, the account and the source in one line each.
    var text: String {
        "\(width) \(height) \(isMaximized ? 1 : 0) \(thumbnails.rawValue)\n\(account)\n\(source)"
    }

    static func load() -> MainWindowState {
        MainWindowState(UserFile.read("\(UserFile.stateFolder)/window"))
    }

    func save() { UserFile.write("\(text)\n", to: UserFile.stateFolder, "window") }
}
