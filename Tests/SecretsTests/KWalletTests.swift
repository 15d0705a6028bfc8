import Glibc
import TestSupport
import Testing
import Web

@testable import Secrets

/// Tests with a simulated KWallet, whose prompts a test answers. ``KWalletProgramTests`` use the real one, which opens a
/// closed wallet only with its password dialog.
@Suite(.privateBus, .timeLimit(.minutes(10)))
struct KWalletTests {
    private let environment: KeyringEnvironment

    init() throws { environment = KeyringEnvironment(try PrivateBus.current) }

    @Test func `a secret is stored, replaced and deleted in an open wallet`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [environment = environment as KeyringEnvironment] in
            await recordErrors {
                let (keyring, store) = try await environment.kwallet()
                let key = SecretKey.account("a")
                #expect(try await store.text(key) == nil)
                try await store.store(Secret("first"), for: key, label: "a")
                try await store.store(Secret("second"), for: key, label: "a")
                #expect(try await store.text(key) == "second")
                #expect(keyring.secrets == ["second"])
                try await store.delete(key)
                #expect(try await store.text(key) == nil)
                #expect(keyring.secrets.isEmpty)
                #expect(keyring.promptCount == 0)
            }
        }
    }

    @Test func `a closed wallet preserves its secrets until it is opened`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [environment = environment as KeyringEnvironment] in
            await recordErrors {
                let (keyring, store) = try await environment.kwallet()
                let key = SecretKey.account("a")
                try await store.store(Secret("token"), for: key, label: "a")
                keyring.isOpen = false
                #expect(await failure { _ = try await store.text(key) }?.isLocked == true)
                #expect(
                    await failure { try await store.store(Secret("b"), for: key, label: "b") }?
                        .isLocked == true)
                #expect(await failure { try await store.delete(key) }?.isLocked == true)
                #expect(keyring.secrets == ["token"])
                #expect(keyring.promptCount == 0)
                keyring.opensOnPrompt = false
                #expect(
                    await failure { try await store.unlock([key], isForStoring: false) }?
                        .isDismissed
                        == true)
                keyring.opensOnPrompt = true
                #expect(try await store.text(key, unlocking: true) == "token")
                #expect(keyring.promptCount == 2)
                keyring.isOpen = false
                try await store.unlock([key], isForStoring: false)
                try await store.delete(key)
                #expect(keyring.secrets.isEmpty)
                #expect(keyring.promptCount == 3)
            }
        }
    }
}

extension KeyringEnvironment {
    @MainActor
    fileprivate func kwallet() async throws -> (FakeKWallet, KeyringStore) {
        enter()
        return (try await FakeKWallet(on: try connect()), KeyringStore(limits: .wide))
    }
}
