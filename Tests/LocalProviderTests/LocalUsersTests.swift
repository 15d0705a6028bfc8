import FoundationEssentials
import ProviderKit
import Storage
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct LocalUsersTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()
    private let provider: LocalProvider

    init() throws {
        directory = try TemporaryDirectory()
        provider = PhotosFixture.provider(directory, clock: clock)
    }

    private var data: String { directory.appending("data/data.sqlite") }

    private func logIn(
        _ name: String, _ password: String? = nil, registers: Bool = false
    ) async throws -> AccountIdentity {
        try await provider.logIn(
            username: name, password: password.map { Secret($0) }, registers: registers)
    }

    @Test(arguments: [
        "ada", "Ада", "李", "a'b\"c", "../x", "two words", "Zoe\u{308}", "%00", "-",
        String(repeating: "👩‍👩‍👧‍👦", count: 64), String(repeating: "a", count: 64),
    ])
    func `the spelling of a name is preserved`(name: String) async throws {
        try provider.check(username: name)
        let identity = try await logIn(name, registers: true)
        #expect(Array(identity.username.utf8) == Array(name.utf8))
        let again = try await logIn(name).username
        #expect(Array(again.utf8) == Array(name.utf8))
        try await provider.removeUser(identity)
        await #expect(throws: ProviderError.self) { try await logIn(name) }
    }

    @Test(arguments: [("Ada", "aDA"), ("Ада", "аДА"), ("Zoë", "ZOE\u{308}"), ("straße", "STRASSE")])
    func `names ignore case and normalization`(name: String, other: String) async throws {
        _ = try await logIn(name, registers: true)
        #expect(try await logIn(other).username == name)
        await expectThrown(ProviderError.userExists) { try await logIn(other, registers: true) }
    }

    @Test func `a user that cannot be stored is not reported as one that exists`() async throws {
        _ = try await logIn("ada", registers: true)
        let database = try Database(path: data, isDurable: true)
        try database.execute("UPDATE sqlite_sequence SET seq = \(TableFormat.largestNumber)")
        await #expect(throws: StorageError.self) { try await logIn("bob", registers: true) }
    }

    @Test func `copies of the data of other users remain`() async throws {
        let user = try await logIn("Ed", registers: true)
        try directory.write("marked", to: "data/data.sqlite.damaged-1")
        try await provider.removeUser(user)
        #expect(directory.has("data/data.sqlite.damaged-1"))
    }

    @Test(arguments: [
        "", " ", " a", "a ", "a\0b", "a\nb", "\u{a0}a", "a\u{3000}", "\u{1b}[1m", "a\u{202e}b",
        "\u{2028}",
        String(repeating: "a", count: 65), String(repeating: "👩‍👩‍👧‍👦", count: 65),
        "a" + String(repeating: "\u{301}", count: 5000),
    ])
    func `an invalid name is rejected`(name: String) async throws {
        #expect(throws: ProviderError.self) { try provider.check(username: name) }
        await #expect(throws: ProviderError.self) { try await logIn(name, registers: true) }
    }

    // MARK: Passwords

    /// Returns the error of a login.
    private func error(
        _ name: String, _ password: String, registers: Bool = false
    ) async -> ProviderError? {
        await #expect(throws: ProviderError.self) {
            try await logIn(name, password, registers: registers)
        }
    }

    @Test(arguments: ["geheim", " ", "пароль", String(repeating: "p", count: 511)])
    func `a password is required, and only its hash is stored`(password: String) async throws {
        _ = try await logIn("ada", password, registers: true)
        #expect(try await logIn("ADA", password).username == "ada")
        await expectThrown(ProviderError.wrongPassword) { try await logIn("ada") }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.appending("data"))
        for name in names where name.hasPrefix("data.") && password.utf8.count > 1 {
            let file = try Data(contentsOf: URL(filePath: directory.appending("data/\(name)")))
            #expect(file.firstRange(of: Data(password.utf8)) == nil)
        }
        let database = try Database(path: data, isDurable: true)
        let hash = try database.first("SELECT password FROM user") { $0.text(0) }
        #expect(hash?.hasPrefix("$y$") == true)
        #expect(clock.sleepers.value == [])
    }

    @Test func `a wrong password is reported after a pause, a correct one at once`() async throws {
        _ = try await logIn("ada", "geheim", registers: true)
        for failures in 0..<3 {
            let pause = PasswordThrottle.pause(failures: failures)
            async let wrong = error("ada", "geraten")
            // One sleep is in the call, the other holds the queue.
            try await clock.sleepers.wait { $0.count == 2 * (failures + 1) ? true : nil }
            #expect(clock.sleepers.value.last == clock.now.advanced(by: pause))
            clock.advance(by: pause)
            #expect(await wrong?.isCase(of: ProviderError.wrongPassword) == true)
        }
        _ = try await logIn("ada", "geheim")
        // The success has reset the pause.
        async let wrong = error("ada", "geraten")
        _ = try await clock.sleepers.elements(8)
        #expect(clock.sleepers.value.last == clock.now.advanced(by: PasswordThrottle.firstPause))
        clock.advance(by: PasswordThrottle.firstPause)
        _ = await wrong
    }

    @Test func `a user without a password logs in without one`() async throws {
        _ = try await logIn("ada", registers: true)
        await expectThrown(ProviderError.wrongPassword) { try await logIn("ada", "geheim") }
        _ = try await logIn("ada")
    }

    @Test(arguments: ["", "a\0b", String(repeating: "p", count: 512)])
    func `an invalid password is rejected`(password: String) async throws {
        guard case .invalidArgument = await error("ada", password, registers: true) else {
            Issue.record("it was taken")
            return
        }
        // Nothing is left of the registration.
        await expectThrown(ProviderError.noSuchUser) { try await logIn("ada") }
    }

    @Test func `the error without libcrypt names the package to install`() async throws {
        let crypt = PasswordCrypt(libraries: ["libnothing.so.1", "libc.so.6"])
        let text = await expectThrown(ProviderError.notSupported) {
            try await crypt.hash(Secret("geheim"))
        }
        #expect(text?.contains("libcrypt") == true)
    }

    @Test func `each hash of a password has a new salt`() async throws {
        let crypt = PasswordCrypt()
        let hashes = [try await crypt.hash(Secret("a")), try await crypt.hash(Secret("a"))]
        #expect(hashes[0] != hashes[1])
        for hash in hashes { #expect(try await crypt.matches(Secret("a"), hash)) }
        #expect(try await !crypt.matches(Secret("b"), hashes[0]))
        #expect(try await !crypt.matches(Secret(""), hashes[0]))
        #expect(try await !crypt.matches(Secret("a\0b"), hashes[0]))
    }
}
