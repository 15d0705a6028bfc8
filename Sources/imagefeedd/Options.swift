internal import Contract
internal import Glibc
internal import Logging

private let usage = """
    Usage: imagefeedd [--replace] [--log-level LEVEL]

    Serves photo feeds on the session bus. Normally started by D-Bus or systemd.

      --replace          replace a running daemon
      --log-level LEVEL  trace, debug, info, notice, warning, error or critical; default: notice
      --version          print the version
      --help             print this help
    """

/// Reads the command line of the daemon. Ends the process after `--version` and `--help`, and at an invalid argument.
///
/// - Parameter arguments: The arguments, without the program name.
/// - Returns: True if a running daemon is to be replaced, and the lowest level of logged events.
func readOptions(_ arguments: some Sequence<String>) -> (replaces: Bool, logLevel: Logger.Level) {
    var replaces = false
    var logLevel = Logger.Level.notice
    var iterator = arguments.makeIterator()
    while let argument = iterator.next() {
        switch argument {
        case "--version":
            print("imagefeedd \(buildVersion)")
            exit(EXIT_SUCCESS)
        case "--help", "-h":
            print(usage)
            exit(EXIT_SUCCESS)
        case "--replace": replaces = true
        case let argument where argument.hasPrefix("--log-level"):
            let value =
                argument == "--log-level"
                ? iterator.next() : String(argument.dropFirst("--log-level=".count))
            guard let level = value.flatMap(Logger.Level.init(rawValue:)) else {
                let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                failUsage("--log-level takes one of \(levels)")
            }
            logLevel = level
        default: failUsage("unknown argument \(argument)")
        }
    }
    return (replaces, logLevel)
}

private func failUsage(_ reason: String) -> Never {
    printError("\(reason); see imagefeedd --help")
    exit(EX_USAGE)
}
