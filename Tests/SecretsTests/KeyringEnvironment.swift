import DBus
import Glibc
import Secrets
import TestSupport
import Testing
import Web

/// The environment of a child process that uses libsecret, which reads the bus address from the environment.
struct KeyringEnvironment: Codable, Sendable {
    private let environment: [String: String]
    let address: String

    init(_ bus: PrivateBus) {
        environment = bus.environment
        address = bus.address
    }

    /// Sets the environment of this process, and limits its lifetime to five minutes: a time limit of the test does
    /// not end it.
    func enter() {
        alarm(300)
        for (name, value) in environment { setenv(name, value, 1) }
    }

    @MainActor
    func connect() throws -> BusConnection { try BusConnection(address: address) }

    /// Starts a gnome-keyring and waits until it owns its name.
    func startKeyring() async throws -> ChildProcess {
        try await PrivateKeyring.start(address: address, environment: environment)
    }

    @MainActor
    func control() throws -> KeyringControl { KeyringControl(try connect()) }
}

/// A test that runs in a process of its own, with a store whose time limits are wide.
typealias Scenario<Keyring> = @MainActor @Sendable (Keyring, KeyringStore) async throws -> Void

/// Runs a scenario of one of the suites.
func runScenario(_ name: String) async throws {
    let environment = KeyringEnvironment(try PrivateBus.current)
    await #expect(processExitsWith: .success) {
        [environment = environment as KeyringEnvironment, name] in
        await recordErrors {
            environment.enter()
            let all = [
                KeyringStoreTests.scenarios, KeyringLifeTests.scenarios, OddKeyringTests.scenarios,
            ]
            let scenario = try #require(all.compactMap { $0[name] }.first)
            try await scenario(environment, KeyringStore(limits: .wide))
        }
    }
}

extension KeyringLimits {
    /// Creates limits; those that are not given are not exceeded by a slow machine.
    init(calls: Duration = .seconds(60), prompting: Duration = .seconds(60), cancelling: Duration) {
        self.init()
        (reading, writing) = (calls, calls)
        (self.prompting, self.cancelling) = (prompting, cancelling)
    }

    static let wide = KeyringLimits(cancelling: .seconds(10))

    /// Short limits, for calls to a keyring that does not respond.
    static let short = KeyringLimits(
        calls: .seconds(2), prompting: .milliseconds(500), cancelling: .milliseconds(200))
}

/// Returns the error that `body` throws; nil, with an issue, if it does not throw.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> SecretStoreError? {
    do {
        try await body()
        Issue.record("no error", sourceLocation: sourceLocation)
    } catch let error as SecretStoreError {
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

/// Returns the errors of reading, deleting and storing a secret.
func failures(
    _ store: KeyringStore, _ key: SecretKey = .ada,
    sourceLocation: SourceLocation = #_sourceLocation
) async -> [SecretStoreError?] {
    [
        await failure(sourceLocation: sourceLocation) { _ = try await store.text(key) },
        await failure(sourceLocation: sourceLocation) { try await store.delete(key) },
        await failure(sourceLocation: sourceLocation) { try await store.store("b", for: key) },
    ]
}

/// Expects that reading, deleting and storing a secret fail because the keyring is locked.
func expectLocked(
    _ store: KeyringStore, _ key: SecretKey = .ada,
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    let areLocked = await failures(store, key, sourceLocation: sourceLocation).map { $0?.isLocked }
    #expect(areLocked == [true, true, true], sourceLocation: sourceLocation)
}

/// Returns true if reading a secret shows a prompt, which is dismissed.
func isDismissed(_ store: KeyringStore, _ key: SecretKey = .ada) async -> Bool {
    await failure { _ = try await store.text(key, unlocking: true) }?.isDismissed == true
}

/// Stores, replaces and deletes a secret.
///
/// - Parameters:
///   - store: A store without the secret.
///   - inspect: Inspects the keyring while it has only the secret `second`.
/// - Throws: The error of the store.
func expectStorage(_ store: KeyringStore, _ inspect: () throws -> Void = {}) async throws {
    #expect(try await store.text(.ada) == nil)
    try await store.store("first")
    #expect(try await store.text(.ada) == "first")
    try await store.store("second")
    #expect(try await store.text(.ada) == "second")
    try inspect()
    try await store.delete(.ada)
    #expect(try await store.text(.ada) == nil)
}

extension SecretStoreError {
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    var isLocked: Bool { if case .locked = self { true } else { false } }
    var isDismissed: Bool { if case .dismissed = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
}

extension SecretKey {
    /// The key of the account “a”, of which most tests store a secret.
    static let ada = SecretKey.account("a")
}

extension KeyringStore {
    func store(_ text: String, for key: SecretKey = .ada) async throws {
        try await store(Secret(text), for: key, label: "a")
    }

    /// Returns the bytes of a secret, for comparison.
    func bytes(_ key: SecretKey, unlocking: Bool = false) async throws -> [UInt8]? {
        if unlocking { try await unlock([key], isForStoring: false) }
        return try await lookUp(key)?.withBytes { Array($0) }
    }

    func text(_ key: SecretKey, unlocking: Bool = false) async throws -> String? {
        try await bytes(key, unlocking: unlocking).map { String(decoding: $0, as: UTF8.self) }
    }
}
