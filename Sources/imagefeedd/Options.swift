internal import Logging

/// The command line of the daemon.
enum Options {
    case run(replacing: Bool, logLevel: Logger.Level)
    case version
    case help
    case invalid(String)

    static let usage = """
        Usage: imagefeedd [--replace] [--log-level LEVEL]

        Serves photo feeds on the session bus. Normally started by D-Bus or systemd.

          --replace          replace a running daemon
          --log-level LEVEL  trace, debug, info, notice, warning, error or critical; default: notice
          --version          print the version
          --help             print this help
        """

    /// Parses the arguments, without the program name.
    init(_ arguments: some Sequence<String>) {
        var replaces = false
        var logLevel = Logger.Level.notice
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            switch argument {
            case "--version": self = .version
            case "--help", "-h": self = .help
            case "--replace":
                replaces = true
                continue
            case let argument where argument.hasPrefix("--log-level"):
                let value =
                    argument == "--log-level"
                    ? iterator.next() : String(argument.dropFirst("--log-level=".count))
                guard let level = value.flatMap(Logger.Level.init(rawValue:)) else {
                    self = .invalid("--log-level takes one of \(Self.levels)")
                    return
                }
                logLevel = level
                continue
            default: self = .invalid("unknown argument \(argument)")
            }
            return
        }
        self = .run(replacing: replaces, logLevel: logLevel)
    }

    private static var levels: String {
        Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
