internal import ArgumentParser
internal import Contract
internal import DBus
internal import JSONFormat
internal import System
internal import Translation

/// The commands for authors of plugins.
struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: tr("Test a plugin, or show its messages."),
        discussion:
            tr("A plugin is a provider that is a program of its own: see imagefeed-providers(7)."),
        subcommands: [ProviderTestCommand.self, ProviderTraceCommand.self])
}

struct ProviderTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: tr("Check a plugin against the rules of imagefeed-providers(7)."),
        discussion: tr(
            """
            Starts the program in the sandbox and with the limits of the daemon, and calls it for \
            the account that the options describe. Neither the daemon nor the accounts in it are \
            used, and nothing is changed at the service. Each finding names the section of \
            imagefeed-providers(7) that has the rule.

            Exit status: 0 no rule is broken, 1 a rule is broken, 69 no sandbox, 75 the service \
            cannot be used now, 77 the service does not accept the key.
            """))

    @Argument(help: .init(tr("The manifest, a file NAME.provider."), valueName: "manifest-file"))
    var manifest: String
    @Option(help: .init(tr("The user name of the account.")))
    var username: String?
    @Option(help: .init(tr("The server of the account.")))
    var server: String?
    @Option(
        help: .init(tr("Read the key or the access token from this file; - is standard input.")))
    var passwordFile: PathBytes?
    @Option(
        help: .init(
            tr("Set KEY=VALUE in place of the configuration, such as AllowLoopback=true."),
            valueName: "setting"))
    var set: [String] = []
    @Option(
        help: .init(
            tr("Use this sandbox: bubblewrap or landlock. (default: the one of the daemon)"),
            valueName: "kind"))
    var sandbox: String?
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !manifest.isEmpty else { throw ValidationError(tr("The manifest has no name.")) }
        for setting in set where !setting.dropFirst().contains("=") {
            throw ValidationError(
                tr("“{setting}” is not of the form KEY=VALUE.", ["setting": setting]))
        }
        if let sandbox, !["bubblewrap", "landlock"].contains(sandbox) {
            throw ValidationError(tr("--sandbox must be bubblewrap or landlock."))
        }
    }

    @MainActor func run() async throws {
        var key: FileDescriptor?
        if let passwordFile { key = try await SecretFile(passwordFile, .key).descriptor() }
        var settings: [String: String] = [:]
        for setting in set {
            let name = setting.prefix { $0 != "=" }
            settings[String(name)] = String(setting.dropFirst(name.count + 1))
        }
        let given = [("username", username), ("server", server), ("sandbox", sandbox)]
        let options =
            [
                JSON.Member("manifest", .string(manifest)),
                .init("settings", .object(settings.map { .init($0, .string($1)) })),
                .init("user_agent", .string(userAgent)),
            ] + given.compactMap { name, value in value.map { .init(name, .string($0)) } }
        var report = ProviderTestReport()
        let target = OutputTarget.standardOutput
        try await ProviderTestProgram.run(options, key: key) { line in
            guard let text = try report.add(line, target), !output.json else { return }
            try Console.write(text)
        }
        if output.json {
            try output.show(report)
        } else if target != .pipe, let summary = report.summary {
            Console.printMessage(summary)
        }
        guard report.status == .done else { throw CommandFailure(report.status, "") }
    }
}

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
