import Glibc
import TestSupport
import Testing
import Web

@testable import Secrets

/// Tests with keyrings that behave differently from gnome-keyring: with odd ones, and with a simulated oo7-daemon, of
/// which no Debian release has a package, and KWallet, whose prompts a test answers. ``KWalletProgramTests`` use the real
/// KWallet, which opens a closed wallet only with its password dialog.
@Suite(.privateBus, .timeLimit(.minutes(10)))
struct OddKeyringTests {
    @Test(arguments: scenarios.keys.sorted())
    func `another keyring is used`(_ scenario: String) async throws {
        try await runScenario(scenario)
    }

    /// The scenarios, each with a fake keyring in its process.
    static let scenarios: [String: Scenario<KeyringEnvironment>] = [
        scenarios(odd) { environment in
            // Warnings of libsecret must not end the process, even with this variable.
            setenv("G_DEBUG", "fatal-warnings", 1)
            return try await FakeKeyring(on: environment.connect())
        },
        scenarios(oo7) { try await FakeKeyring(on: $0.connect(), isOo7: true) },
        scenarios(kwallet) { try await FakeKWallet(on: $0.connect()) },
    ].reduce(into: [:]) { $0.merge($1) { first, _ in first } }

    private static func scenarios<Keyring>(
        _ bodies: [String: Scenario<Keyring>],
        _ keyring: @escaping @MainActor @Sendable (KeyringEnvironment) async throws -> Keyring
    ) -> [String: Scenario<KeyringEnvironment>] {
        bodies.mapValues { body in { try await body(keyring($0), $1) } }
    }

    private static let odd: [String: Scenario<FakeKeyring>] = [
        "a session without encryption is accepted": { _, store in try await expectStorage(store) },
        "calls to an unresponsive keyring end with an error": { keyring, wide in
            let store = KeyringStore(limits: .short)
            keyring.isSilent = true
            var errors = await failures(store)
            errors.append(await failure { _ = try await store.text(.ada, unlocking: true) })
            errors.append(await failure { try await store.unlock() })
            #expect(errors.map { $0?.isUnavailable } == [true, true, true, true, true])
            keyring.isSilent = false
            let text = try await wide.text(.ada)
            #expect(text == nil)
        },
        "without a default collection every call fails": { keyring, store in
            keyring.hasDefaultCollection = false
            let expected = SecretStoreError.noDefaultKeyring
            #expect(await failures(store) == [expected, expected, expected])
            #expect(keyring.promptCount.value == 0)
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            #expect(keyring.promptCount.value == 1)
        },
        "only unlocking calls prompt": { keyring, store in
            try await store.store("token")
            keyring.isLocked = true
            await expectLocked(store)
            #expect(keyring.promptCount.value == 0)
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            #expect(await isDismissed(store))
            #expect(keyring.promptCount.value == 2)
            keyring.prompts = .unlocks
            #expect(try await store.text(.ada, unlocking: true) == "token")
            keyring.isLocked = true
            try await store.unlock()
            try await store.unlock()
            #expect(keyring.promptCount.value == 4)
        },
        "an unresponsive prompt times out and does not block other calls": { keyring, _ in
            // Long enough for the prompt to appear and for the other call.
            let store = KeyringStore(
                limits: KeyringLimits(prompting: .seconds(10), cancelling: .milliseconds(200)))
            keyring.isLocked = true
            keyring.prompts = .isSilent
            let hasEnded = Observed(false)
            async let unlocking = failure {
                defer { hasEnded.update { $0 = true } }
                try await store.unlock()
            }
            try await keyring.promptCount.wait { $0 > 0 ? true : nil }
            #expect(await failure { _ = try await store.text(.ada) }?.isLocked == true)
            #expect(!hasEnded.value)
            #expect(await unlocking?.isUnavailable == true)
            keyring.isLocked = false
            #expect(try await store.text(.ada) == nil)
        },
        "a prompt with an unexpected result ends its call immediately": { keyring, _ in
            keyring.prompts = .dismissesLikeKeePassXC
            // Only the time after the end of the prompt is short.
            let store = KeyringStore(limits: KeyringLimits(cancelling: .milliseconds(200)))
            keyring.promptsBeforeStoring = true
            #expect(await failure { try await store.store("b") }?.isFailed == true)
            keyring.isLocked = true
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            keyring.hasDefaultCollection = false
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            #expect(keyring.promptCount.value == 3)
        },
        "a refused prompt for storing a secret is an error": { keyring, store in
            keyring.promptsBeforeStoring = true
            #expect(await failure { try await store.store("b") }?.isFailed == true)
            #expect(keyring.promptCount.value == 1)
        },
        "a search that might show a dialog is not sent without a user action": { keyring, store in
            try await store.store("token")
            let searches = keyring.searches
            keyring.hidesLockedItems = true
            keyring.isLocked = true
            #expect(await failure { _ = try await store.text(.ada) }?.isLocked == true)
            #expect(await failure { try await store.delete(.ada) }?.isLocked == true)
            keyring.hasDefaultCollection = false
            #expect(await failure { _ = try await store.text(.ada) } == .noDefaultKeyring)
            #expect(keyring.searches == searches)
            keyring.hasDefaultCollection = true
            keyring.prompts = .unlocks
            #expect(try await store.text(.ada, unlocking: true) == "token")
        },
        "each call closes its session": { keyring, store in
            store.keepConnection(true)
            for _ in 0..<3 { _ = try await store.text(.ada) }
            try await keyring.sessionCount.wait { $0 == 0 ? true : nil }
        },
        "a prompt is dismissed when the task of the caller is cancelled": { keyring, _ in
            // The prompt ignores its dismissal, so that the call takes this long.
            let store = KeyringStore(limits: KeyringLimits(cancelling: .seconds(3)))
            keyring.isLocked = true
            keyring.prompts = .isSilent
            let unlocking = Task { await failure { try await store.unlock() } }
            try await keyring.promptCount.wait { $0 > 0 ? true : nil }
            // The second call waits in the queue.
            let next = Task { await failure { try await store.unlock() } }
            next.cancel()
            unlocking.cancel()
            #expect(await unlocking.value == .cancelled)
            #expect(await next.value == .cancelled)
            #expect(keyring.promptCount.value == 1)
            try await keyring.dismissals.wait { $0 > 0 ? true : nil }
            #expect(keyring.dismissals.value == 1)
        },
        "an ineffective deletion is reported as an error": { keyring, store in
            try await store.store("token")
            keyring.ignoresDeletions = true
            #expect(await failure { try await store.delete(.ada) }?.isFailed == true)
        },
    ]

    private static let oo7: [String: Scenario<FakeKeyring>] = [
        "oo7 stores, replaces and deletes a secret while it is unlocked": { keyring, store in
            try await expectStorage(store)
            #expect(keyring.promptCount.value == 0)
        },
        "a locked oo7 prompts only for an action of the user": { keyring, store in
            try await store.store("token")
            keyring.isLocked = true
            await expectLocked(store)
            #expect(keyring.promptCount.value == 0)
            #expect(await isDismissed(store))
            keyring.prompts = .unlocks
            #expect(try await store.text(.ada, unlocking: true) == "token")
            #expect(keyring.promptCount.value == 2)
            keyring.isLocked = true
            try await store.unlock([.ada], isForStoring: true)
            try await store.store("new")
            #expect(try await store.text(.ada) == "new")
            try await store.delete(.ada)
            #expect(try await store.text(.ada) == nil)
            #expect(keyring.promptCount.value == 3)
        },
    ]

    private static let kwallet: [String: Scenario<FakeKWallet>] = [
        "an open wallet stores, replaces and deletes a secret": { keyring, store in
            try await expectStorage(store) { #expect(keyring.secrets == ["second"]) }
            #expect(keyring.secrets.isEmpty)
            #expect(keyring.promptCount == 0)
        },
        "a closed wallet preserves its secrets until it is opened": { keyring, store in
            try await store.store("token")
            keyring.isOpen = false
            await expectLocked(store)
            #expect(keyring.secrets == ["token"])
            #expect(keyring.promptCount == 0)
            keyring.opensOnPrompt = false
            #expect(
                await failure { try await store.unlock([.ada], isForStoring: false) }?
                    .isDismissed
                    == true)
            keyring.opensOnPrompt = true
            #expect(try await store.text(.ada, unlocking: true) == "token")
            #expect(keyring.promptCount == 2)
            keyring.isOpen = false
            try await store.unlock([.ada], isForStoring: false)
            try await store.delete(.ada)
            #expect(keyring.secrets.isEmpty)
            #expect(keyring.promptCount == 3)
        },
    ]
}
