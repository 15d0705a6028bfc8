internal import ArgumentParser
internal import Contract
internal import DBus
internal import System
internal import Translation

struct ProviderTraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: tr("Show the messages of a plugin until interrupted."),
        discussion: tr(
            """
            One line per event: the time, → for a message to the plugin and ← for one from it, and \
            the beginning of the message. On a terminal, lines are cut to its width. With --json, \
            each line is an object with the complete message. Secrets are replaced by “(secret)”. \
            The plugin is not started for the trace; “imagefeedctl refresh” makes the daemon call it.
            """))

    @Argument(help: .init(tr("The ID of a provider, as listed by “imagefeedctl providers”.")))
    var provider: String
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let provider = try await session.snapshot().provider(provider)
        let reader = LineReader()
        let watch = SignalWatch { reader.end() }
        defer { withExtendedLifetime(watch) {} }
        let ends = try PipeEnds()
        let reading = ends.takeReading()
        do {
            try await session.client.provider(provider.path)
                .trace(to: FileDescriptor(owning: ends.takeWriting()))
        } catch {
            reader.close(reading)
            throw error
        }
        if OutputTarget.standardOutput != .pipe {
            Console.printMessage(
                tr(
                    "Messages of {provider} are shown until Ctrl-C.", ["provider": provider.name]))
        }
        let output = output
        let isInterrupted = try await reader.run(reading) { line in
            try output.show(TraceEvent(line))
        }
        guard isInterrupted else {
            throw CommandFailure(
                .unavailable, tr("The trace ended because the daemon ended; run the command again.")
            )
        }
    }
}
