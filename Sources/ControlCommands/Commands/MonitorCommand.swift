internal import ArgumentParser

struct MonitorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor", abstract: "Print a line for each event until interrupted.",
        discussion: """
            The command does not start the daemon: it waits for it, and continues after a restart. With \
            --json, each line is an object with the key “event”.
            """)

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let output = output
        try await EventMonitor { event in try output.show(event) }.run()
    }
}
