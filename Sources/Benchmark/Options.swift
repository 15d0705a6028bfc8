/// The command line.
struct Options {
    static let usage = "Usage: Benchmark IMAGEFEEDD [--idle SECONDS]"

    let daemon: String
    private(set) var idleSeconds = 30

    /// Reads the arguments, the program's name left out; nil when they are wrong.
    init?(_ arguments: some Sequence<String>) {
        var daemon: String?
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            if argument == "--idle" {
                guard let seconds = iterator.next().flatMap(Int.init), seconds > 0 else {
                    return nil
                }
                idleSeconds = seconds
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
