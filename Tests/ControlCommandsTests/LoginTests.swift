import Contract
import DBus
import Glibc
import TestSupport
import Testing

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct LoginTests {
    private let oauth = ["login", "unsplash"]

    private func login() async throws -> FakeLogin {
        try await service.manager.logins.wait { $0.first }
    }

    @Test func `a local login prints the account ID`() async throws {
        let result = try await Control.expectSuccess([
            "login", "local", "--username", "ada", "--register",
        ])
        #expect(result.output == "local_ada\n")
        let options = try await login().options
        #expect(options == ["username": .string("ada"), "register": .bool(true)])
    }

    @Test(arguments: [("secret\n", "secret"), ("a\nb\n\n", "a\nb\n"), ("", ""), ("x\r\n", "x\r")])
    func `a password loses only its last line feed`(input: String, password: String) async throws {
        let arguments = ["login", "local", "--username", "ada", "--password-file"]
        try await Control.expectSuccess(arguments + ["-"], input: input)
        #expect(try await login().password == password)
        let file = try PrivateBus.current.directory.write(input, to: "password")
        #expect(try await Control.run(arguments + [file]).exit == .code(0))
        #expect(service.manager.logins.value.last?.password == password)
    }

    @Test(arguments: [(65536, Int32(0)), (65537, 1)])
    func `a password of more than 64 KiB is refused`(count: Int, status: Int32) async throws {
        try await Control.run(
            ["login", "local", "--username", "ada", "--password-file", "-"],
            input: String(repeating: "p", count: count) + "\n", status: status)
        #expect(service.manager.logins.value.count == (status == 0 ? 1 : 0))
    }

    /// The URL may follow later.
    @Test(arguments: [[FakeLogin.address], ["", FakeLogin.address]])
    func `login prints the URL once and the account ID in lines`(urls: [String]) async throws {
        service.manager.loginAddresses = urls
        let control = try Control.start(oauth)
        #expect(try await control.firstLine() == FakeLogin.address)
        let login = try await login()
        try await login.browsers.wait { $0 == 1 ? true : nil }
        login.succeed()
        let result = try await control.result(status: 0)
        #expect(result.output == "\(FakeLogin.address)\nunsplash_bob\n")
        #expect(login.browsers.value == 1)
    }

    @Test func `--no-browser does not open the browser`() async throws {
        let control = try Control.start(oauth + ["--no-browser", "--json"])
        try await control.standardError.wait { $0.text.contains(FakeLogin.address) ? true : nil }
        try await login().succeed()
        let result = try await control.result()
        #expect(result.output.hasPrefix(#"{"Id":"unsplash_bob","#))
        #expect(try await login().browsers.value == 0)
    }

    @Test func `a pasted code is submitted, also after a wrong one`() async throws {
        let result = try await Control.expectSuccess(
            oauth + ["--manual"], input: "\nwrong\nright\n")
        #expect(try await login().code.value == "right")
        #expect(try await login().options == ["manual": .bool(true)])
        #expect(result.error.contains("The code is empty; copy it again."))
    }

    @Test func `login prompts for the code if the port is in use`() async throws {
        let address = FakeLogin.address + "&redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
        service.manager.loginAddresses = [address]
        let result = try await Control.expectSuccess(oauth, input: " right \n")
        #expect(result.output == "\(address)\nunsplash_bob\n")
        #expect(try await login().code.value == "right")
    }

    @Test func `a URL that cannot be printed cancels the login`() async throws {
        let result = try await Control.shell("exec \"$CTL\" login unsplash > /dev/full", status: 1)
        #expect(result.error.contains("No space left"))
        let login = try await login()
        #expect(throws: ErrorReply.self) { try login.result.value?.get() }
    }

    @Test func `a login to an unconfigured provider names the command to run`() async throws {
        service.manager.unsplash.isConfigured = false
        let result = try await Control.run(oauth, status: 78)
        let advice = "Run “imagefeedctl configure unsplash”."
        #expect(result.error == "imagefeedctl: \(FakeProvider.help). \(advice)\n")
    }

    @Test(arguments: [
        (ServiceError.loginDenied, Int32(1)), (.loginTimedOut, 1), (.offline, 75),
        (.rateLimited, 75), (.secretStoreLocked, 75),
    ])
    func `a failed login prints its error`(error: ServiceError, status: Int32) async throws {
        let control = try Control.start(oauth)
        _ = try await control.firstLine()
        // The error follows this message, so it is on a line of its own.
        try await control.standardError.wait { $0.text.contains("Waiting") ? true : nil }
        try await login().result.update { $0 = .failure(ErrorReply(error.name, "It is so.")) }
        let result = try await control.result(status: status)
        #expect(result.error.contains("\nimagefeedctl: It is so."))
        // An account that is not logged in has no time of a retry.
        #expect(!result.error.contains("imagefeedctl status"))
    }

    @Test func `the end of input instead of a code cancels the login`() async throws {
        let result = try await Control.run(oauth + ["--manual", "--no-browser"], status: 1)
        // The error is on a line of its own.
        #expect(result.error.contains("\nimagefeedctl: The login was cancelled"))
    }

    @Test func `Ctrl-C cancels the login`() async throws {
        let control = try Control.start(oauth)
        _ = try await control.firstLine()
        control.kill(SIGINT)
        #expect(try await control.exitStatus() == .code(130))
        let login = try await login()
        #expect(throws: ErrorReply.self) { try login.result.value?.get() }
    }
}
