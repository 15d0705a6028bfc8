import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import Secrets

/// With a double of KWallet. The real one has no use on a screen without a user: kwalletd creates a wallet only with
/// its wizard, and opens it only with its password dialog.
@Suite(.privateBus, .timeLimit(.minutes(1)))
struct KWalletTests {
    private let surroundings: Surroundings

    init() throws { surroundings = Surroundings(try PrivateBus.current) }

    @Test func `a secret is stored, replaced and deleted in an open wallet`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.kwallet()
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

    @Test func `a closed wallet keeps its secrets until it is opened`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.kwallet()
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
            keyring.opensWhenAsked = false
            #expect(
                await failure { try await store.unlock([key], isForStoring: false) }?.isDismissed
                    == true)
            keyring.opensWhenAsked = true
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

extension Surroundings {
    @MainActor
    fileprivate func kwallet() async throws -> (FakeKWallet, KeyringStore) {
        enter()
        return (try await FakeKWallet(on: try connect()), KeyringStore(limits: .short))
    }
}
