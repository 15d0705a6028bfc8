package import DBus
package import Testing

/// A gnome-keyring on the bus of one test, with an unlocked default collection.
///
/// Its prompts are dismissed immediately, because there is no display.
package struct PrivateKeyring: Sendable {
    /// The keyring of the running test, which has the traits ``Testing/Trait/privateBus`` and
    /// ``Testing/Trait/privateKeyring``, in this order.
    package static var current: PrivateKeyring {
        get throws { try #require(running, "the test lacks the trait .privateKeyring") }
    }
    @TaskLocal fileprivate static var running: PrivateKeyring?

    package let bus: PrivateBus
    package let daemon: ChildProcess

    private static let program = "/usr/bin/gnome-keyring-daemon"
    private static let password = "open sesame"

    /// Starts gnome-keyring on a bus without a keyring.
    package init(on bus: PrivateBus) async throws {
        self.bus = bus
        daemon = try await Self.start(address: bus.address, environment: bus.environment)
    }

    /// Starts gnome-keyring on any bus and waits until it owns its name.
    @MainActor
    package static func start(
        address: String, environment: [String: String]
    ) async throws -> ChildProcess {
        let connection = try BusConnection(address: address)
        let hasOwner = Observed(false)
        let watch = try await connection.watchOwner(of: KeyringControl.service) { owner in
            hasOwner.update { $0 = owner != nil }
        }
        let daemon = try ChildProcess(
            program, ["--foreground", "--unlock", "--components=secrets"],
            environment: environment, input: password)
        try await hasOwner.wait { $0 ? true : nil }
        withExtendedLifetime((connection, watch)) {}
        return daemon
    }

    /// Opens a new connection to lock and unlock the keyring.
    @MainActor
    package func connect() throws -> KeyringControl { KeyringControl(try bus.connect()) }

    /// Kills gnome-keyring and waits for its exit.
    package func stop() async throws { try await daemon.stop() }
}

/// A client that performs the actions of the keyring's user.
@MainActor
package struct KeyringControl {
    nonisolated static let service: BusName = "org.freedesktop.secrets"
    private let connection: BusConnection
    private let root: BusProxy
    private let collection: ObjectPath = "/org/freedesktop/secrets/collection/login"

    package init(_ connection: BusConnection) {
        self.connection = connection
        root = BusProxy(connection, Self.service, "/org/freedesktop/secrets")
    }

    package func lock(_ other: ObjectPath? = nil) async throws {
        let _: ([ObjectPath], ObjectPath) = try await root.call(
            "org.freedesktop.Secret.Service", "Lock", [other ?? collection])
    }

    /// Creates another collection, without a prompt.
    package func addCollection() async throws -> ObjectPath {
        let (_, session): (Variant, ObjectPath) = try await root.call(
            "org.freedesktop.Secret.Service", "OpenSession", "plain", Variant.string(""))
        let properties: [String: Variant] = [
            "org.freedesktop.Secret.Collection.Label": .string("another")
        ]
        return try await root.call(
            "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "CreateWithMasterPassword",
            properties, BusStruct(session, [UInt8](), Array("sesame".utf8), "text/plain"))
    }

    /// Unlocks the keyring with its password, without a prompt.
    ///
    /// Source: gnome-keyring's `org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface`.
    package func unlock(password: String = "open sesame") async throws {
        let (_, session): (Variant, ObjectPath) = try await root.call(
            "org.freedesktop.Secret.Service", "OpenSession", "plain", Variant.string(""))
        let secret = BusStruct(session, [UInt8](), Array(password.utf8), "text/plain")
        try await root.perform(
            "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "UnlockWithMasterPassword",
            collection, secret)
    }

    package var isLocked: Bool {
        get async throws {
            try await BusProxy(connection, Self.service, collection)
                .property("org.freedesktop.Secret.Collection", "Locked").bool == true
        }
    }

    /// Gives a collection an alias, or removes the alias with the path `/`.
    package func setAlias(_ name: String, to collection: ObjectPath) async throws {
        try await root.perform("org.freedesktop.Secret.Service", "SetAlias", name, collection)
    }

    /// The paths of all collections.
    package var collections: Variant {
        get async throws {
            try await root.property("org.freedesktop.Secret.Service", "Collections")
        }
    }

    /// Returns the items with these attributes: the unlocked ones, then the locked ones.
    package func search(_ attributes: [String: String]) async throws -> (
        [ObjectPath], [ObjectPath]
    ) {
        try await root.call("org.freedesktop.Secret.Service", "SearchItems", attributes)
    }

    /// Returns a property of an item.
    package func property(_ item: ObjectPath, _ name: MemberName) async throws -> Variant {
        try await BusProxy(connection, Self.service, item)
            .property("org.freedesktop.Secret.Item", name)
    }

    /// Deletes an unlocked item.
    package func delete(_ item: ObjectPath) async throws {
        let _: ObjectPath = try await BusProxy(connection, Self.service, item)
            .call("org.freedesktop.Secret.Item", "Delete")
    }

    /// Adds an item to the existing ones.
    package func add(_ text: String, _ attributes: [String: String], schema: String) async throws {
        let (_, session): (Variant, ObjectPath) = try await root.call(
            "org.freedesktop.Secret.Service", "OpenSession", "plain", Variant.string(""))
        let entries = attributes.merging(["xdg:schema": schema]) { $1 }
            .map { Variant.Entry(key: .string($0.key), value: .string($0.value)) }
        let properties: [String: Variant] = [
            "org.freedesktop.Secret.Item.Label": .string("another"),
            "org.freedesktop.Secret.Item.Attributes": .dictionary(
                entries, key: String.signature, value: String.signature),
        ]
        let _: (ObjectPath, ObjectPath) = try await BusProxy(connection, Self.service, collection)
            .call(
                "org.freedesktop.Secret.Collection", "CreateItem", properties,
                BusStruct(session, [UInt8](), Array(text.utf8), "text/plain"), false)
    }
}

/// A trait that starts a keyring for each test.
package struct PrivateKeyringTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent
    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let keyring = try await PrivateKeyring(on: PrivateBus.current)
        try await keyring.daemon.stop {
            try await PrivateKeyring.$running.withValue(keyring) { try await function() }
        }
    }
}

extension Trait where Self == PrivateKeyringTrait {
    /// A keyring for each test, available as ``PrivateKeyring/current``. Must follow `.privateBus`.
    package static var privateKeyring: PrivateKeyringTrait { PrivateKeyringTrait() }
}
