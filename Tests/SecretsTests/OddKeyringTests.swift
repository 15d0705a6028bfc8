import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import Secrets

/// With keyrings that do what gnome-keyring does not.
@Suite(.privateBus, .timeLimit(.minutes(1)))
struct OddKeyringTests {
    private let surroundings: Surroundings

    init() throws { surroundings = Surroundings(try PrivateBus.current) }

    @Test func `a session without encryption will do`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (_, store) = try await surroundings.fakeKeyring()
            let key = SecretKey.account("a")
            #expect(try await store.text(key) == nil)
            try await store.store(Secret("token"), for: key, label: "a")
            #expect(try await store.text(key) == "token")
            try await store.delete(key)
            #expect(try await store.text(key) == nil)
        }
    }

    @Test func `a keyring that does not answer is given up`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            keyring.isSilent = true
            let key = SecretKey.account("a")
            #expect(await failure { _ = try await store.text(key) }?.isUnavailable == true)
            #expect(
                await failure { _ = try await store.text(key, unlocking: true) }?.isUnavailable
                    == true)
            #expect(
                await failure { try await store.store(Secret("b"), for: key, label: "b") }?
                    .isUnavailable == true)
            #expect(await failure { try await store.delete(key) }?.isUnavailable == true)
            #expect(await failure { try await store.unlock() }?.isUnavailable == true)
            keyring.isSilent = false
            #expect(try await store.text(key) == nil)
        }
    }

    @Test func `without a default collection nothing is certain`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            keyring.hasDefaultCollection = false
            let (key, expected) = (SecretKey.account("a"), SecretStoreError.noDefaultKeyring)
            #expect(await failure { _ = try await store.text(key) } == expected)
            #expect(await failure { try await store.delete(key) } == expected)
            #expect(
                await failure { try await store.store(Secret("b"), for: key, label: "b") }
                    == expected)
            #expect(keyring.promptCount.value == 0)
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            #expect(keyring.promptCount.value == 1)
        }
    }

    @Test func `only what may prompt does`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            let key = SecretKey.account("a")
            try await store.store(Secret("token"), for: key, label: "a")
            keyring.isLocked = true
            #expect(await failure { _ = try await store.text(key) }?.isLocked == true)
            #expect(await failure { try await store.delete(key) }?.isLocked == true)
            #expect(
                await failure { try await store.store(Secret("b"), for: key, label: "b") }?
                    .isLocked == true)
            #expect(keyring.promptCount.value == 0)
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            #expect(
                await failure { _ = try await store.text(key, unlocking: true) }?.isDismissed
                    == true)
            #expect(keyring.promptCount.value == 2)
            keyring.prompts = .unlocks
            #expect(try await store.text(key, unlocking: true) == "token")
            keyring.isLocked = true
            try await store.unlock()
            try await store.unlock()
            #expect(keyring.promptCount.value == 4)
        }
    }

    @Test func `a prompt that leads nowhere ends, and holds nobody up`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            keyring.isLocked = true
            keyring.prompts = .isSilent
            async let unlocking = failure { try await store.unlock() }
            try await keyring.promptCount.wait { $0 > 0 ? true : nil }
            #expect(await failure { _ = try await store.text(.account("a")) }?.isLocked == true)
            #expect(await unlocking?.isUnavailable == true)
            keyring.isLocked = false
            #expect(try await store.text(.account("a")) == nil)
        }
    }

    @Test func `a prompt that is dismissed in a way that libsecret does not know ends at once`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, _) = try await surroundings.fakeKeyring()
            keyring.prompts = .dismissesLikeKeePassXC
            // The test would be over before its prompt.
            var limits = KeyringLimits.short
            limits.prompting = .seconds(120)
            limits.writing = .seconds(120)
            let store = KeyringStore(limits: limits)
            keyring.asksBeforeStoring = true
            #expect(
                await failure {
                    try await store.store(Secret("b"), for: .account("a"), label: "b")
                }?
                .isFailed == true)
            keyring.isLocked = true
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            keyring.hasDefaultCollection = false
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            #expect(keyring.promptCount.value == 3)
        }
    }

    @Test func `what a locked keyring does not find may be there`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            let key = SecretKey.account("a")
            try await store.store(Secret("token"), for: key, label: "a")
            keyring.hidesLockedItems = true
            keyring.isLocked = true
            #expect(await failure { _ = try await store.text(key) }?.isLocked == true)
            #expect(await failure { try await store.delete(key) }?.isLocked == true)
            keyring.prompts = .unlocks
            #expect(try await store.text(key, unlocking: true) == "token")
        }
    }

    @Test func `a keyring whose user does not want the secret stored is no dead end`() async throws
    {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            keyring.asksBeforeStoring = true
            #expect(
                await failure {
                    try await store.store(Secret("b"), for: .account("a"), label: "b")
                }?
                .isFailed == true)
            #expect(keyring.promptCount.value == 1)
        }
    }

    @Test func `a search that might show a dialog is left to the user's actions`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            keyring.hidesLockedItems = true
            keyring.isLocked = true
            let key = SecretKey.account("a")
            #expect(await failure { _ = try await store.text(key) }?.isLocked == true)
            #expect(await failure { try await store.delete(key) }?.isLocked == true)
            keyring.hasDefaultCollection = false
            #expect(await failure { _ = try await store.text(key) } == .noDefaultKeyring)
            #expect(keyring.searches == 0)
        }
    }

    @Test func `each call closes its session`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            store.keepConnection(true)
            for _ in 0..<3 { _ = try await store.text(.account("a")) }
            try await keyring.sessionCount.wait { $0 == 0 ? true : nil }
        }
    }

    @Test func `a prompt is dismissed when the task of the caller is cancelled`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, _) = try await surroundings.fakeKeyring()
            // The test would be over before its prompt.
            var limits = KeyringLimits.short
            limits.prompting = .seconds(120)
            let store = KeyringStore(limits: limits)
            keyring.isLocked = true
            keyring.prompts = .isSilent
            let unlocking = Task { await failure { try await store.unlock() } }
            try await keyring.promptCount.wait { $0 > 0 ? true : nil }
            // A second one waits for its turn.
            let next = Task { await failure { try await store.unlock() } }
            next.cancel()
            unlocking.cancel()
            #expect(await unlocking.value == .cancelled)
            #expect(await next.value == .cancelled)
            #expect(keyring.promptCount.value == 1)
            #expect(keyring.dismissals.value == 1)
        }
    }

    @Test func `a keyring that only says that it has deleted is found out`() async throws {
        await #expect(processExitsWith: .success) {
            @MainActor [surroundings = surroundings as Surroundings] in
            let (keyring, store) = try await surroundings.fakeKeyring()
            let key = SecretKey.account("a")
            try await store.store(Secret("token"), for: key, label: "a")
            keyring.keepsItems = true
            #expect(await failure { try await store.delete(key) }?.isFailed == true)
        }
    }
}

extension Surroundings {
    /// A fake keyring in this process, and a store that soon loses patience with it.
    @MainActor
    fileprivate func fakeKeyring() async throws -> (FakeKeyring, KeyringStore) {
        enter()
        // libsecret's own complaints end nothing, even then.
        setenv("G_DEBUG", "fatal-warnings", 1)
        return (try await FakeKeyring(on: try connect()), KeyringStore(limits: .short))
    }
}
