internal import Logging

/// The command line of the daemon.
enum Options {
    case run(replacing: Bool, logLevel: Logger.Level)
    case version
    case help
    case wrong(String)

    static let usage = """
        Usage: imagefeedd [--replace] [--log-level LEVEL]

        Serves photo feeds on the session bus. D-Bus or systemd starts it; a person rarely does.

          --replace          take over from a daemon that is running
          --log-level LEVEL  trace, debug, info, notice, warning, error or critical; notice if not given
          --version          print the version
          --help             print this
        """

    /// Reads the arguments, the program's name left out.
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
                    self = .wrong("--log-level takes one of \(Self.levels)")
                    return
                }
                logLevel = level
                continue
            default: self = .wrong("unknown argument \(argument)")
            }
            return
        }
        self = .run(replacing: replaces, logLevel: logLevel)
    }

    private static var levels: String {
        Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
