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

/// A test that runs in a process of its own.
struct Scenario: Sendable, CustomTestStringConvertible {
    typealias Body<Keyring> = @MainActor @Sendable (Keyring, KeyringStore) async throws -> Void

    let testDescription: String
    private let body: Body<KeyringEnvironment>

    init(_ name: String, _ body: @escaping Body<KeyringEnvironment>) {
        testDescription = name
        self.body = body
    }

    private static let all =
        KeyringStoreTests.scenarios + KeyringLifeTests.scenarios + OddKeyringTests.scenarios

    /// Runs the scenario with a store whose time limits are wide.
    func run() async throws {
        let environment = KeyringEnvironment(try PrivateBus.current)
        await #expect(processExitsWith: .success) {
            [environment = environment as KeyringEnvironment, name = testDescription as String] in
            await recordErrors {
                environment.enter()
                let scenario = Scenario.all.first { $0.testDescription == name }
                try await #require(scenario).body(environment, KeyringStore(limits: .wide))
            }
        }
    }
}

extension KeyringLimits {
    /// Limits that a slow machine does not exceed.
    static var wide: KeyringLimits {
        var limits = KeyringLimits()
        limits.reading = .seconds(60)
        limits.writing = .seconds(60)
        limits.prompting = .seconds(60)
        limits.cancelling = .seconds(10)
        return limits
    }

    /// Short limits, for calls to a keyring that does not respond.
    static var short: KeyringLimits {
        var limits = KeyringLimits()
        limits.reading = .seconds(2)
        limits.writing = .seconds(2)
        limits.prompting = .milliseconds(500)
        limits.cancelling = .milliseconds(200)
        return limits
    }
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

/// Expects that reading, storing and deleting a secret fail because the keyring is locked.
func expectLocked(
    _ store: KeyringStore, _ key: SecretKey, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let errors = [
        await failure(sourceLocation: sourceLocation) { _ = try await store.text(key) },
        await failure(sourceLocation: sourceLocation) { try await store.delete(key) },
        await failure(sourceLocation: sourceLocation) {
            try await store.store(Secret("b"), for: key, label: "b")
        },
    ]
    #expect(errors.map { $0?.isLocked } == [true, true, true], sourceLocation: sourceLocation)
}

extension SecretStoreError {
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    var isLocked: Bool { if case .locked = self { true } else { false } }
    var isDismissed: Bool { if case .dismissed = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
}

extension KeyringStore {
    /// Returns the bytes of a secret, for comparison.
    func bytes(_ key: SecretKey, unlocking: Bool = false) async throws -> [UInt8]? {
        if unlocking { try await unlock([key], isForStoring: false) }
        return try await lookUp(key)?.withBytes { Array($0) }
    }

    func text(_ key: SecretKey, unlocking: Bool = false) async throws -> String? {
        try await bytes(key, unlocking: unlocking).map { String(decoding: $0, as: UTF8.self) }
    }
}
