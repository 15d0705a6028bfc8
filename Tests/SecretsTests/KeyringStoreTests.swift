import DBus
import Glibc
import TestSupport
import Testing
import Web

@testable import Secrets

/// Tests with a real gnome-keyring.
@Suite(.privateBus, .privateKeyring, .timeLimit(.minutes(10)))
struct KeyringStoreTests {
    @Test func `secret-tool finds the item by its schema`() async throws {
        let environment = KeyringEnvironment(try PrivateBus.current)
        await #expect(processExitsWith: .success) {
            [environment = environment as KeyringEnvironment] in
            await recordErrors {
                environment.enter()
                try await KeyringStore(limits: .wide).store(
                    Secret("token"), for: .account("a"), label: "Image Feed: a")
            }
        }
        let tool = try ChildProcess(
            "/usr/bin/secret-tool",
            ["lookup", "xdg:schema", "org.imagefeed.ImageFeed1", "account", "a"],
            environment: try PrivateBus.current.environment)
        #expect(try await tool.result().output == "token")
    }

    @Test(arguments: scenarios.keys.sorted())
    func `the keyring is used`(_ scenario: String) async throws { try await runScenario(scenario) }

    static let scenarios: [String: Scenario<KeyringEnvironment>] = [
        "the only open collection is used if none is the default one": { environment, store in
            let second = SecretKey.account("b")
            try await store.store("one")
            let control = try environment.control()
            let none: ObjectPath = "/"
            try await control.setAlias("default", to: none)
            let before = try await control.collections
            #expect(try await store.text(.ada) == "one")
            try await store.unlock([second], isForStoring: true)
            try await store.store("two", for: second)
            #expect(try await store.text(second) == "two")
            let after = try await control.collections
            #expect(after == before)
            try await store.delete(.ada)
            #expect(try await store.text(.ada) == nil)
        },
        "the only collection is used if locked and none is the default one": { environment, store in
            try await store.store("one")
            let control = try environment.control()
            let none: ObjectPath = "/"
            try await control.setAlias("default", to: none)
            try await control.lock()
            await expectLocked(store)
        },
        "a deletion prevented by a locked default collection has no effect": { environment, store in
            try await store.store("one")
            let control = try environment.control()
            let other = try await control.addCollection()
            try await control.setAlias("default", to: other)
            try await control.lock(other)
            #expect(await failure { try await store.delete(.ada) }?.isLocked == true)
            #expect(try await store.text(.ada) == "one")
        },
        "a secret is stored, found, replaced and deleted": { environment, store in
            let key = SecretKey.account("unsplash_ada")
            #expect(try await store.text(key) == nil)
            try await store.store(Secret("first"), for: key, label: "Image Feed: ada at Unsplash")
            #expect(try await store.text(key) == "first")
            try await store.store(Secret("second"), for: key, label: "Image Feed: ada at Unsplash")
            #expect(try await store.text(key) == "second")
            #expect(try await store.text(.provider("unsplash_ada")) == nil)
            #expect(try await store.text(.account("unsplash_adam")) == nil)
            let control = try environment.control()
            let (items, _) = try await control.search(["account": "unsplash_ada"])
            #expect(items.count == 1)
            let item = try #require(items.first)
            #expect(
                try await control.property(item, "Label").string
                    == "Image Feed: ada at Unsplash")
            try await store.delete(key)
            #expect(try await store.text(key) == nil)
            #expect(try await control.search(["account": "unsplash_ada"]).0.isEmpty)
            try await store.delete(key)
        },
        "any bytes survive a round trip": { _, store in
            let all = (0...255).map { UInt8($0) }
            let samples: [[UInt8]] = [
                [], [0], all, Array("{\"access_token\":\"\u{e4}\u{1f511}\"}".utf8),
                (0..<256).flatMap { _ in all },
            ]
            for (number, sample) in samples.enumerated() {
                let key = SecretKey.provider("bytes \(number)")
                try await store.store(Secret(sample), for: key, label: "bytes")
                #expect(try await store.bytes(key) == sample, "sample \(number)")
            }
        },
        "storing leaves one of several duplicates and deleting leaves none": { environment, store in
            let control = try environment.control()
            func addDuplicates() async throws {
                for text in ["one", "two", "three"] {
                    try await control.add(
                        text, ["account": "a"], schema: "org.imagefeed.ImageFeed1")
                }
            }
            try await addDuplicates()
            #expect(try await control.search(["account": "a"]).0.count == 3)
            try await store.store("new")
            #expect(try await control.search(["account": "a"]).0.count == 1)
            #expect(try await store.text(.ada) == "new")
            try await addDuplicates()
            try await store.delete(.ada)
            #expect(try await control.search(["account": "a"]).0.isEmpty)
        },
        "items of other applications are not changed": { environment, store in
            let control = try environment.control()
            try await control.add("theirs", ["account": "a"], schema: "org.gnome.OnlineAccounts")
            #expect(try await store.text(.ada) == nil)
            try await store.store("ours")
            try await store.delete(.ada)
            #expect(try await control.search(["account": "a"]).0.count == 1)
        },
        "a locked keyring is reported and works again when unlocked": { environment, store in
            let control = try environment.control()
            try await store.store("token")
            try await control.lock()
            await expectLocked(store)
            #expect(await failure { _ = try await store.text(.account("none")) }?.isLocked == true)
            #expect(await failure { try await store.delete(.account("none")) }?.isLocked == true)
            #expect(try await control.isLocked)
            try await control.unlock()
            #expect(try await store.text(.ada) == "token")
        },
        "a prompt without a user is reported as dismissed": { environment, store in
            let control = try environment.control()
            try await store.store("token")
            try await store.unlock()
            try await control.lock()
            #expect(await failure { try await store.unlock() }?.isDismissed == true)
            for id in ["a", "none"] { #expect(await isDismissed(store, .account(id))) }
        },
        "the connection is closed after each call": { environment, store in
            let (names, watch) = try await environment.observeConnections()
            for count in 1...2 {
                _ = try await store.text(.ada)
                // The connection is closed after the call, and until then, GLib gives it to the next call.
                try await names.wait { $0.count == count && !$0.values.contains(true) ? true : nil }
            }
            withExtendedLifetime(watch) {}
        },
        "the connection is retained while it is needed": { environment, store in
            let (names, watch) = try await environment.observeConnections()
            store.keepConnection(true)
            for _ in 0..<3 { _ = try await store.text(.ada) }
            #expect(try await names.wait { $0.isEmpty ? nil : $0.count } == 1)
            #expect(names.value.values.allSatisfy { $0 })
            store.keepConnection(false)
            try await names.wait { $0.values.contains(true) ? nil : true }
            withExtendedLifetime(watch) {}
        },
        "a watch reports an unlocked keyring and ignores items": { environment, _ in
            let control = try environment.control()
            let changes = Observed(0)
            let connection = try environment.connect()
            let watch = try await connection.watchKeyring { changes.update { $0 += 1 } }
            try await control.add("text", ["account": "a"], schema: "x")
            try await control.lock()
            try await changes.wait { $0 == 1 ? true : nil }
            try await control.unlock()
            try await changes.wait { $0 >= 2 ? true : nil }
            withExtendedLifetime((connection, watch)) {}
        },
    ]
}

extension KeyringEnvironment {
    /// Records the clients that connect to the bus from now on: true while the client is connected.
    ///
    /// - Returns: The record by unique name, and the objects to retain while it is used.
    @MainActor
    fileprivate func observeConnections() async throws -> (
        names: Observed<[String: Bool]>, watch: (BusConnection, SignalSubscription)
    ) {
        let bus = try connect()
        let names = Observed<[String: Bool]>([:])
        let subscription = try await bus.subscribe(
            MatchRule(sender: .bus, interface: "org.freedesktop.DBus", member: "NameOwnerChanged")
        ) { signal in
            guard let change: (String, String, String) = try? signal.read(),
                change.0.hasPrefix(":")
            else { return }
            names.update { $0[change.0] = !change.2.isEmpty }
        }
        return (names, (bus, subscription))
    }
}

/// Tests with keyrings that appear and disappear.
@Suite(.privateBus, .timeLimit(.minutes(10)))
struct KeyringLifeTests {
    @Test func `the error without libsecret recommends installing it`() async throws {
        let store = KeyringStore(libraryName: "libsecret-missing.so.0")
        let error = await failure { _ = try await store.text(.ada) }
        #expect(error?.isUnavailable == true)
        #expect(error?.message.contains("install the package") == true)
        // A library without the functions of libsecret.
        let other = KeyringStore(libraryName: "libm.so.6")
        #expect(await failure { try await other.unlock() }?.isUnavailable == true)
    }

    @Test(arguments: scenarios.keys.sorted())
    func `a keyring that is missing or restarts is reported`(_ scenario: String) async throws {
        try await runScenario(scenario)
    }

    static let scenarios: [String: Scenario<KeyringEnvironment>] = [
        "the error without a keyring recommends installing one": { _, store in
            let expected = SecretStoreError.unavailable(
                "There is no keyring: install gnome-keyring, KeePassXC or KWallet.")
            let errors = await failures(store) + [await failure { try await store.unlock() }]
            #expect(errors == [expected, expected, expected, expected])
        },
        "without a bus the keyring is unavailable": { _, store in
            setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
            #expect(await failure { _ = try await store.text(.ada) }?.isUnavailable == true)
        },
        "a restarted keyring is used immediately": { environment, store in
            let appearances = Observed(0)
            let connection = try environment.connect()
            let watch = try await connection.watchKeyring { appearances.update { $0 += 1 } }
            #expect(await failure { _ = try await store.text(.ada) }?.isUnavailable == true)
            let first = try await environment.startKeyring()
            try await appearances.wait { $0 >= 1 ? true : nil }
            try await store.store("token")
            first.kill(SIGTERM)
            _ = try await first.exitStatus()
            let second = try await environment.startKeyring()
            #expect(try await store.text(.ada) == "token")
            second.kill(SIGKILL)
            withExtendedLifetime((connection, watch)) {}
        },
    ]
}
