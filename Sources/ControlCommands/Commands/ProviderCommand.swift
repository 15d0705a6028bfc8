internal import ArgumentParser
internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import System
internal import Translation

/// The commands for authors of plugins.
struct ProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: tr("Test a plugin."),
        discussion:
            tr("A plugin is a provider that is a program of its own: see imagefeed-providers(7)."),
        subcommands: [ProviderTestCommand.self])
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

    @Argument(help: .tr("The manifest, a file NAME.provider.", valueName: "manifest-file"))
    var manifest: String
    @Option(help: .tr("The user name of the account."))
    var username: String?
    @Option(help: .tr("The server of the account."))
    var server: String?
    @Option(help: .tr("Read the key or the access token from this file; - is standard input."))
    var passwordFile: PathBytes?
    @Option(
        help: .tr(
            "Set KEY=VALUE in place of the configuration, such as AllowLoopback=true.",
            valueName: "setting"))
    var set: [String] = []
    @Option(
        help: .tr(
            "Use this sandbox: bubblewrap or landlock. (default: the one of the daemon)",
            valueName: "kind"))
    var sandbox: String?
    @Flag(
        help: .tr("Print the messages of the plugin on standard error, with the secrets in them."))
    var verbose = false
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

    /// The number of the key's descriptor in the program that tests.
    private static let keyDescriptor: Int32 = 3

    @MainActor func run() async throws {
        var key: FileDescriptor?
        if let passwordFile { key = try await SecretKind.key.read(from: passwordFile) }
        var settings: [String: String] = [:]
        for setting in set {
            let name = setting.prefix { $0 != "=" }
            settings[String(name)] = String(setting.dropFirst(name.count + 1))
        }
        let options: JSON = [
            "manifest": JSON(manifest), "settings": .object(settings.mapValues { JSON($0) }),
            "user_agent": JSON(userAgent), "username": JSON(username), "server": JSON(server),
            "sandbox": JSON(sandbox), "verbose": .bool(verbose),
            "key_descriptor": JSON(key == nil ? nil : Int(Self.keyDescriptor)),
        ]
        var report = ProviderTestReport()
        let target = OutputTarget.standardOutput
        try await runProgram(options, key: key) { line in
            let line = try JSON(parsing: line)
            if let message = Self.message(line) { return Console.printMessage(message) }
            guard let text = report.add(line, target), !output.json else { return }
            try Console.write(text)
        }
        if output.json {
            try output.show(report.json)
        } else if target != .pipe, let summary = report.summary {
            Console.printMessage(summary)
        }
        guard report.status == .done else { throw CommandFailure(report.status, "") }
    }

    /// Returns the text for a line of the test program with a message of the plugin; nil for another line.
    private static func message(_ line: JSON) -> String? {
        for (key, mark) in [("sent", "→ "), ("received", "← "), ("error", "! ")] {
            if let text = line[key]?.string { return mark + TerminalText.line(text) }
        }
        return nil
    }

    /// Runs the program that tests a plugin, to its end.
    ///
    /// It is separate, so that this program does not contain the code that runs plugins.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - key: The key of the account.
    ///   - handler: Called with each line of its output.
    /// - Throws: ``CommandFailure`` if the program cannot be started, or if it fails without a result; the error of the
    ///   handler.
    @MainActor private func runProgram(
        _ options: JSON, key: FileDescriptor?, _ handler: @escaping ([UInt8]) throws -> Void
    ) async throws {
        let ends = try PipeEnds()
        let output = ends.takeWriting()
        var descriptors = [STDOUT_FILENO: output]
        descriptors[Self.keyDescriptor] = key?.rawValue
        let process: SpawnedProcess
        do {
            defer { close(output) }
            process = try SpawnedProcess(
                CurrentProcess.path(ofProgram: "imagefeed-provider-test"), [options.text],
                descriptors: descriptors)
        } catch {
            throw CommandFailure.tr(
                "The test cannot be started: {reason}", ["reason": error.message.translated])
        }
        try await readLines(of: ends.takeReading(), handler)
        if case .signal(let number) = await process.exit() {
            throw CommandFailure.tr(
                "The test was ended by signal {signal}.", ["signal": String(number)])
        }
    }
}

/// The results of the test of a plugin that have arrived so far.
struct ProviderTestReport {
    /// The members `manifest`, `id` and `name`.
    private var plugin = JSON.null
    /// The objects with `name`, `section`, `result`, `findings` and `note`.
    private var checks: [JSON] = []
    /// The exit status of the command.
    private(set) var status = ProgramStatus.failed

    /// The width of the first two columns on a terminal.
    private static let (resultWidth, nameWidth) = (9, 28)

    /// Adds a line of the test program.
    ///
    /// - Returns: The text for users; nil if there is none.
    mutating func add(_ line: JSON, _ target: OutputTarget) -> String? {
        if line["section"] != nil {
            checks.append(line)
            return Self.text(line, target)
        }
        if let status = line["status"]?.integer {
            self.status = ProgramStatus(rawValue: Int32(status)) ?? .failed
            return nil
        }
        plugin = line
        guard case .terminal = target, let id = line["id"]?.string else { return nil }
        let title = line["name"]?.string.map { "\($0) (\(id))" } ?? id
        return target.styled(TerminalText.line(title), .heading) + "\n"
    }

    /// The numbers of results in one sentence.
    var summary: String? {
        guard !checks.isEmpty else { return nil }
        let counts = ["passed", "warning", "failed", "skipped"].compactMap { result -> String? in
            let count = checks.count { $0["result"]?.string == result }
            let name = result == "warning" && count > 1 ? "warnings" : result
            return count > 0 ? "\(count) \(name)" : nil
        }
        let hasFindings = checks.contains { ["failed", "warning"].contains($0["result"]?.string) }
        return counts.joined(separator: ", ")
            + (hasFindings ? "; the rules are in imagefeed-providers(7)." : ".")
    }

    private static func text(_ check: JSON, _ target: OutputTarget) -> String {
        let member = { (key: String) in TerminalText.line(check[key]?.string ?? "") }
        let (name, note, section) = (member("name"), member("note"), member("section"))
        let result = member("result")
        let findings = (check["findings"]?.elements ?? []).map {
            TerminalText.line($0.string ?? "")
        }
        guard case .terminal(let columns, _) = target else {
            return (findings.isEmpty ? [note] : findings).map { text in
                [result, name, section, text].joined(separator: "\t") + "\n"
            }.joined()
        }
        let style: TextStyle =
            switch result {
            case "passed": .good
            case "warning": .warning
            case "failed": .bad
            default: .faint
            }
        let fact = findings.isEmpty ? note : section
        let padded =
            name.displayWidth < nameWidth
            ? name + String(repeating: " ", count: nameWidth - name.displayWidth) : name + "  "
        let used = resultWidth + padded.displayWidth
        var text =
            target.styled(result, style)
            + String(repeating: " ", count: max(1, resultWidth - result.count))
            + (fact.isEmpty
                ? name : padded + target.styled(fact.truncated(to: max(1, columns - used)), .faint))
            + "\n"
        let indent = String(repeating: " ", count: resultWidth)
        for finding in findings {
            for line in finding.wrapped(to: max(20, columns - resultWidth)) {
                text += indent + line + "\n"
            }
        }
        return text
    }

    /// The report as one JSON document.
    var json: JSON {
        let result = status == .done ? "passed" : status == .failed ? "failed" : "inconclusive"
        let names = ["manifest", "id", "name"].map { JSON.Member($0, plugin[$0] ?? .null) }
        return .object(names + [.init("result", .string(result)), .init("checks", .array(checks))])
    }
}
