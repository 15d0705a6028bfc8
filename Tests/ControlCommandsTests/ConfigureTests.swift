import TestSupport
import Testing

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct ConfigureTests {
    private let configure = ["configure", "unsplash"]

    @Test func `configuring an unusable provider is refused`() async throws {
        service.manager.unsplash.state = "invalid"
        service.manager.unsplash.stateReason = "Exec is missing."
        try await Control.expectFailure(
            ["configure", "unsplash", "--client-id", "x"], status: 1,
            "Unsplash cannot be configured: Exec is missing.\n")
        #expect(service.manager.unsplash.settings.value.isEmpty)
        let status = try await Control.run(["status"])
        #expect(
            status.output.contains("\nprovider\tunsplash\tinvalid\tExec is missing.\n"),
            "\(status.output)")
        let providers = try await Control.run(["providers"])
        let line = try #require(
            providers.output.split(separator: "\n").first { $0.hasPrefix("unsplash\t") })
        #expect(line.contains("\tinvalid\t"))
        #expect(line.hasSuffix("\tExec is missing."))
    }

    @Test(arguments: [("geheim\n", "geheim"), ("geheim", "geheim"), ("a\nb\n\n", "a\nb\n")])
    func `the secret loses only its last line feed`(input: String, secret: String) async throws {
        service.manager.unsplash.isConfigured = false
        let arguments = configure + ["--client-id", "-id", "--client-secret-file"]
        let result = try await Control.expectSuccess(arguments + ["-"], input: input)
        #expect(result.output == "")
        #expect(result.error.contains("imagefeedctl login unsplash"))
        let file = try PrivateBus.current.directory.write(input, to: "secret")
        #expect(try await Control.run(arguments + [file]).exit == .code(0))
        let both = ["client_id": "-id", "client_secret": secret]
        #expect(service.manager.unsplash.settings.value == [both, both])
    }

    @Test func `configure with one option changes only one setting`() async throws {
        service.manager.unsplash.isConfigured = false
        let result = try await Control.run(configure + ["--client-id", "a", "--json"])
        #expect(result.output.contains(#""Configured":false"#))
        #expect(
            result.error
                == "Unsplash is not completely configured yet. Set the other value, too.\n")
        #expect(service.manager.unsplash.settings.value == [["client_id": "a"]])
    }

    @Test func `a client ID alone names the option of the client secret`() async throws {
        let result = try await Control.expectSuccess(configure + ["--client-id", "a"])
        #expect(result.error.contains("pass it with --client-secret-file FILE"))
        #expect(result.error.contains("imagefeedctl login unsplash"))
    }

    @Test(arguments: [
        ("unsplash", Int32(64), "--client-id"), ("local", 64, "--directory"),
        ("local --client-id a", 64, "--exclude"), ("local --order up", 64, "order"),
        ("unsplash --exclude a", 64, "provider “local”"),
        ("local --directory /dev/null/x", 1, "Not a directory"), ("unknown", 1, "providers"),
        ("unsplash --client-id ", 64, "empty"), ("unsplash --client-id locked", 75, "locked"),
        ("unsplash --client-secret-file /dev/null/x", 1, "Not a directory"),
    ])
    func `an invalid configuration is a one-line error`(
        line: String, status: Int32, message: String
    ) async throws {
        try await Control.expectFailure(["configure"] + line.words, status: status, message)
        #expect(service.manager.unsplash.settings.value == [])
    }

    @Test func `the path of the folder of local may be another one than UTF-8`() async throws {
        let result = try await Control.shell(
            "\"$CTL\" configure local --directory \"/missing$(printf '\\351')\"", status: 1)
        #expect(result.error.contains("No such file or directory"))
    }

    @Test func `configure tells where to register and prompts for the secret`() async throws {
        service.manager.unsplash.isConfigured = false
        let screen = try await Terminal.screen(
            "\"$CTL\" configure unsplash",
            replies: ["Client ID: ": "my id\n", "Client secret: ": "geheim\n"])
        #expect(
            screen == """
                \(FakeProvider.help).
                Redirect URLs of the application:  \(FakeProvider.redirect)
                                                   urn:ietf:wg:oauth:2.0:oob
                Client ID: my id
                Client secret: \n\
                Unsplash is configured. Log in with “imagefeedctl login unsplash”.

                """)
        let both = ["client_id": "my id", "client_secret": "geheim"]
        #expect(service.manager.unsplash.settings.value == [both])
        #expect(service.manager.logins.value.isEmpty)
    }

    @Test func `empty input keeps the settings and starts no login`() async throws {
        let screen = try await Terminal.screen(
            "\"$CTL\" configure unsplash",
            replies: ["Client ID: ": "\n", "Client secret: ": "\n"], status: 1)
        #expect(screen.contains("Unsplash is already configured"))
        #expect(service.manager.unsplash.settings.value == [])
        #expect(service.manager.logins.value.isEmpty)
    }

    @Test func `Ctrl-D at the client ID cancels the configuration`() async throws {
        let screen = try await Terminal.screen(
            "\"$CTL\" configure unsplash", replies: ["Client ID: ": "\u{4}"], status: 130)
        #expect(screen.contains("\nimagefeedctl: Nothing was entered."))
        #expect(!screen.contains("Client secret"))
        #expect(service.manager.unsplash.settings.value == [])
    }

    @Test func `Ctrl-C at the secret restores the terminal`() async throws {
        let screen = try await Terminal.screen(
            "trap : INT; \"$CTL\" configure unsplash; echo $?; stty -a", isShell: true,
            replies: ["Client ID: ": "a\n", "Client secret: ": "\u{3}"], status: nil)
        #expect(screen.contains("130\n"))
        #expect(screen.contains(" echo "))
        #expect(service.manager.unsplash.settings.value == [])
    }
}
