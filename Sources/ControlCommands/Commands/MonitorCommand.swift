internal import ArgumentParser

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Print a line for each event until interrupted.",
        discussion: """
            The command does not start the daemon: it waits for it, and continues after a restart. With \
            --json, each line is an object with the key “event”.
            """)

    @Option(help: "End after this number of events.")
    var count: Int?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
    }

    @MainActor func run() async throws {
        let output = output
        try await EventMonitor(limit: count) { event in try output.show(event) }.run()
    }
}
