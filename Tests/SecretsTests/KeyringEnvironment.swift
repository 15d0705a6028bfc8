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

/// A test that runs in a process of its own, with a keyring or the environment of one.
struct Scenario<Keyring>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    fileprivate let body: @MainActor @Sendable (Keyring, KeyringStore) async throws -> Void

    init(
        _ name: String,
        _ body: @escaping @MainActor @Sendable (Keyring, KeyringStore) async throws -> Void
    ) {
        testDescription = name
        self.body = body
    }
}

extension Array {
    /// Runs the scenario with a name.
    @MainActor
    func run<Keyring>(
        _ name: String, _ keyring: Keyring, _ store: KeyringStore
    ) async throws where Element == Scenario<Keyring> {
        try await #require(first { $0.testDescription == name }).body(keyring, store)
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

extension SecretStoreError {
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
    var isLocked: Bool { if case .locked = self { true } else { false } }
    var isDismissed: Bool { if case .dismissed = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
}

extension KeyringStore {
    /// Returns the bytes of a secret, for comparison.
    func bytes(_ key: SecretKey, unlocking: Bool = false) async throws -> [UInt8]? {
        try await lookUp(key, unlocking: unlocking)?.withBytes { Array($0) }
    }

    func text(_ key: SecretKey, unlocking: Bool = false) async throws -> String? {
        try await bytes(key, unlocking: unlocking).map { String(decoding: $0, as: UTF8.self) }
    }
}
