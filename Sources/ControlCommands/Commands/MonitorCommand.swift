internal import ArgumentParser
internal import Translation

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: tr("Print a line for each event until interrupted."),
        discussion: tr(
            """
            The command does not start the daemon: it waits for it, and continues after a restart. With \
            --json, each line is an object with the key “event”.
            """))

    @Option(help: .init(tr("End after this number of events.")))
    var count: Int?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError(tr("--count must be 1 or more.")) }
    }

    @MainActor func run() async throws {
        let output = output
        try await EventMonitor(limit: count) { event in try output.show(event) }.run()
    }
}
