/// The options of the command line.
struct Options {
    static let usage =
        """
        Usage: Benchmark IMAGEFEEDD [--idle SECONDS] [--users COUNT] [--photos COUNT]
            [--reference PROGRAM] [--plugins PROGRAM] [--library]
        """

    let daemon: String
    private(set) var idleSeconds = 30
    private(set) var users = 20
    private(set) var photos = 10_000
    /// True if only the scans of the pictures folder are measured.
    private(set) var isLibrary = false
    /// The provider of Unsplash as a plugin; if it is set, only plugins are measured.
    private(set) var plugin: String?

    /// A bare service to compare the activation with; nil if it is not compared.
    private(set) var reference: String?

    /// Parses the arguments without the program name; nil if they are invalid.
    init?(_ arguments: some Sequence<String>) {
        var daemon: String?
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            if ["--idle", "--users", "--photos"].contains(argument) {
                guard let count = iterator.next().flatMap(Int.init), count > 0 else { return nil }
                switch argument {
                case "--idle": idleSeconds = count
                case "--users": users = count
                default: photos = count
                }
            } else if argument == "--library" {
                isLibrary = true
            } else if argument == "--plugins" {
                guard let program = iterator.next() else { return nil }
                plugin = program
            } else if argument == "--reference" {
                guard let program = iterator.next() else { return nil }
                reference = program
            } else if daemon == nil, !argument.hasPrefix("-") {
                daemon = argument
            } else {
                return nil
            }
        }
        guard let daemon else { return nil }
        self.daemon = daemon
    }
}
