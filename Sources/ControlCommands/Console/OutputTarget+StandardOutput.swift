internal import Glibc

extension OutputTarget {
    /// The kind of standard output.
    static var standardOutput: OutputTarget {
        target(of: STDOUT_FILENO)
    }

    /// The kind of standard error.
    static var standardError: OutputTarget { target(of: STDERR_FILENO) }

    private static func target(of descriptor: Int32) -> OutputTarget {
        guard isatty(descriptor) != 0 else { return .pipe }
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        // Source: https://no-color.org: the variable applies if it is set and not empty.
        let isColoured = environment("NO_COLOR").isEmpty && environment("TERM") != "dumb"
        return .terminal(columns: isKnown ? Int(size.ws_col) : 80, isColoured: isColoured)
    }

    private static func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}
