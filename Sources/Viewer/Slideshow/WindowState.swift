internal import Glibc

/// The size of the slideshow window, kept in `XDG_STATE_HOME`.
enum WindowState {
    private static var folder: String {
        if let state = getenv("XDG_STATE_HOME").map({ String(cString: $0) }), state.hasPrefix("/") {
            return "\(state)/imagefeed"
        }
        let home = getenv("HOME").map { String(cString: $0) } ?? "/"
        return "\(home)/.local/state/imagefeed"
    }

    static func load() -> (width: Int, height: Int)? {
        guard let file = fopen("\(folder)/slideshow-window", "re") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = fread(&buffer, 1, buffer.count, file)
        let text = String(decoding: buffer.prefix(count), as: UTF8.self)
        let numbers = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).compactMap { Int($0) }
        guard numbers.count == 2, numbers.allSatisfy({ (100...10_000).contains($0) }) else {
            return nil
        }
        return (numbers[0], numbers[1])
    }

    static func save(_ width: Int, _ height: Int) {
        // All folders of the path; those that exist are not changed.
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o700)
        }
        guard let file = fopen("\(folder)/slideshow-window", "we") else { return }
        fputs("\(width) \(height)\n", file)
        fclose(file)
    }
}
