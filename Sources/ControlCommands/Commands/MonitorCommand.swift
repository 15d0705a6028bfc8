internal import ArgumentParser

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Print a line for each event until interrupted.",
        discussion: """
            A daemon that is not running is waited for, not started. With --json each line is an \
            object with “event”.
            """)

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let output = output
        try await EventMonitor { event in try output.show(event) }.run()
    }
}
