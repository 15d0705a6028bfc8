import Logging
import ProviderKit
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(1))) struct LocalUsersTests {
    private let directory: TemporaryDirectory
    private let provider: LocalProvider

    init() throws {
        directory = try TemporaryDirectory()
        provider = LocalProvider(
            pictures: directory.appending("home/Pictures"), data: directory.appending("data"),
            cache: directory.appending("cache"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func request(_ name: String, registers: Bool = false) -> PasswordLoginRequest {
        PasswordLoginRequest(username: name, hasPassword: false, registers: registers)
    }

    @Test(arguments: [
        "ada", "Ада", "李", "a'b\"c", "../x", "two words",
        String(repeating: "👩‍👩‍👧‍👦", count: 64), String(repeating: "a", count: 64),
    ])
    func `a name is kept as it is`(name: String) async throws {
        try provider.check(request(name, registers: true))
        let identity = try await provider.logIn(request(name, registers: true))
        #expect(identity.username == name)
        #expect(try await provider.logIn(request(name)).username == name)
        try await provider.removeUser(identity)
        await #expect(throws: ProviderError.self) { try await provider.logIn(request(name)) }
    }

    @Test(arguments: [("Ada", "aDA"), ("Ада", "аДА"), ("Zoë", "ZOE\u{308}"), ("straße", "STRASSE")])
    func `names are the same without case and however composed`(
        name: String, other: String
    ) async throws {
        _ = try await provider.logIn(request(name, registers: true))
        #expect(try await provider.logIn(request(other)).username == name)
        let error = await #expect(throws: ProviderError.self) {
            try await provider.logIn(request(other, registers: true))
        }
        guard case .userExists = error else {
            Issue.record("not userExists: \(String(describing: error))")
            return
        }
    }

    @Test func `an unknown name is no user`() async throws {
        let error = await #expect(throws: ProviderError.self) {
            try await provider.logIn(request("nobody"))
        }
        guard case .noSuchUser = error else {
            Issue.record("not noSuchUser: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        "", " ", " a", "a ", "a\0b", "a\nb", "\u{1b}[1m", "a\u{202e}b", "\u{2028}",
        String(repeating: "a", count: 65), String(repeating: "👩‍👩‍👧‍👦", count: 65),
        "a" + String(repeating: "\u{301}", count: 5000),
    ])
    func `what is no name is refused`(name: String) async throws {
        #expect(throws: ProviderError.self) { try provider.check(request(name, registers: true)) }
        await #expect(throws: ProviderError.self) {
            try await provider.logIn(request(name, registers: true))
        }
    }
}
