internal import Glibc

extension OutputTarget {
    /// What standard output leads to.
    static var standardOutput: OutputTarget {
        medium(of: STDOUT_FILENO)
    }

    /// What standard error leads to.
    static var standardError: OutputTarget { medium(of: STDERR_FILENO) }

    private static func medium(of descriptor: Int32) -> OutputTarget {
        guard isatty(descriptor) != 0 else { return .pipe }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        // Source: https://no-color.org: set and not empty.
        let isColoured = environment("NO_COLOR").isEmpty && environment("TERM") != "dumb"
        return .terminal(columns: isKnown ? Int(size.ws_col) : 80, isColoured: isColoured)
    }

    private static func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}
