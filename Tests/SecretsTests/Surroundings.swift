import DBus
import Glibc
import ProviderKit
import Secrets
import TestSupport
import Testing

/// The environment of a child process that libsecret is used in: it reads where the bus is from there.
struct Surroundings: Codable, Sendable {
    private let environment: [String: String]
    let address: String

    init(_ bus: PrivateBus) {
        environment = bus.environment
        address = bus.address
    }

    /// Makes them those of this process, which has a minute at most: a time limit of the test does not end it.
    func enter() {
        alarm(60)
        for (name, value) in environment { setenv(name, value, 1) }
    }

    @MainActor
    func connect() throws -> BusConnection { try BusConnection(address: address) }

    /// Starts a gnome-keyring, and waits until it is there.
    func startKeyring() async throws -> ChildProcess {
        try await PrivateKeyring.start(address: address, environment: environment)
    }

    @MainActor
    func control() throws -> KeyringControl { KeyringControl(try connect()) }
}

extension KeyringLimits {
    /// Short ones, for keyrings that do not answer.
    static var short: KeyringLimits {
        var limits = KeyringLimits()
        limits.reading = .seconds(2)
        limits.writing = .seconds(2)
        limits.prompting = .milliseconds(500)
        limits.cancelling = .milliseconds(200)
        return limits
    }
}

/// What a call fails with; nil and an issue if it does not.
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
    /// The bytes of a secret, for comparison.
    func bytes(_ key: SecretKey, unlocking: Bool = false) async throws -> [UInt8]? {
        try await lookUp(key, unlocking: unlocking)?.withBytes { Array($0) }
    }

    func text(_ key: SecretKey, unlocking: Bool = false) async throws -> String? {
        try await bytes(key, unlocking: unlocking).map { String(decoding: $0, as: UTF8.self) }
    }
}
