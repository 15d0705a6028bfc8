import Glibc
import TestSupport
import Testing
import Web

@testable import Secrets

/// Tests with a simulated oo7-daemon. No Debian release has a package of it.
@Suite(.privateBus, .timeLimit(.minutes(10)))
struct Oo7Tests {
    private let environment: KeyringEnvironment

    init() throws { environment = KeyringEnvironment(try PrivateBus.current) }

    @Test func `a secret is stored, replaced and deleted in an unlocked keyring`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [environment = environment as KeyringEnvironment] in
            await recordErrors {
                let (keyring, store) = try await environment.oo7()
                let key = SecretKey.account("a")
                try await store.store(Secret("first"), for: key, label: "a")
                try await store.store(Secret("second"), for: key, label: "a")
                #expect(try await store.text(key) == "second")
                try await store.delete(key)
                #expect(try await store.text(key) == nil)
                #expect(keyring.promptCount.value == 0)
            }
        }
    }

    @Test func `a locked keyring prompts only for an action of the user`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [environment = environment as KeyringEnvironment] in
            await recordErrors {
                let (keyring, store) = try await environment.oo7()
                let key = SecretKey.account("a")
                try await store.store(Secret("token"), for: key, label: "a")
                keyring.isLocked = true
                #expect(await failure { _ = try await store.text(key) }?.isLocked == true)
                #expect(
                    await failure { try await store.store(Secret("b"), for: key, label: "b") }?
                        .isLocked == true)
                #expect(await failure { try await store.delete(key) }?.isLocked == true)
                #expect(keyring.promptCount.value == 0)
                #expect(
                    await failure { _ = try await store.text(key, unlocking: true) }?.isDismissed
                        == true)
                keyring.prompts = .unlocks
                #expect(try await store.text(key, unlocking: true) == "token")
                #expect(keyring.promptCount.value == 2)
                keyring.isLocked = true
                try await store.unlock([key], isForStoring: true)
                try await store.store(Secret("new"), for: key, label: "a")
                #expect(try await store.text(key) == "new")
                try await store.delete(key)
                #expect(try await store.text(key) == nil)
                #expect(keyring.promptCount.value == 3)
            }
        }
    }
}

extension KeyringEnvironment {
    @MainActor
    fileprivate func oo7() async throws -> (FakeKeyring, KeyringStore) {
        enter()
        return (
            try await FakeKeyring(on: try connect(), isOo7: true), KeyringStore(limits: .wide)
        )
    }
}
