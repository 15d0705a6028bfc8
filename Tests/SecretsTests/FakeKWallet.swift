import DBus
import TestSupport

/// A Secret Service that behaves like kwalletd of KDE Frameworks, with two wallets.
///
/// Source: `src/runtime/kwalletd/kwalletfreedesktop{service,collection,item,prompt}.cpp` of KDE/kwallet. The
/// differences from gnome-keyring:
///
/// - A search finds the items of closed wallets: their attributes are in a separate file.
/// - `Unlock` opens the wallet of an item, and the prompt reports the requested path. The signal `Completed` is sent
///   only to the caller.
/// - `CreateItem` in a closed wallet is the error `IsLocked`, and never prompts.
/// - `GetSecret` of an item of a closed wallet returns an empty secret instead of an error.
/// - `Delete` never prompts. In a closed wallet it deletes only the attributes: the secret remains, but a search does
///   not find it any more.
@MainActor
final class FakeKWallet {
    struct Entry {
        var attributes: [String: String]
        var secret: [UInt8]
    }

    /// True if the default wallet is open.
    var isOpen = true
    /// True if the user opens the wallet when prompted.
    var opensOnPrompt = true
    /// The number of prompts so far.
    private(set) var promptCount = 0
    /// The entries of the default wallet by object path. The attributes of an entry that was deleted while the wallet
    /// was closed are empty.
    private(set) var entries: [ObjectPath: Entry] = [:]
    private var lastNumber = 0
    private var requestedObjects: [ObjectPath] = []

    private let connection: BusConnection
    private let tree: ObjectTree
    private let prompt = ExportedObject("/org/freedesktop/secrets/prompts/1")
    private let session: ObjectPath = "/org/freedesktop/secrets/session/1"

    fileprivate static let wallet: ObjectPath = "/org/freedesktop/secrets/collection/kdewallet"
    fileprivate static let otherWallet: ObjectPath = "/org/freedesktop/secrets/collection/other"
    private static let promptName: InterfaceName = "org.freedesktop.Secret.Prompt"

    init(on connection: BusConnection) async throws {
        self.connection = connection
        tree = ObjectTree(connection, root: "/org/freedesktop/secrets") { error in
            error as? ErrorReply ?? ErrorReply(.failed, "\(error)")
        }
        let service = ExportedObject("/org/freedesktop/secrets")
        service.add(Self.serviceInterface, on: self)
        prompt.add(Self.promptInterface, on: self)
        for object in [service, prompt] { tree.export(object) }
        for path in [Self.wallet, Self.otherWallet] {
            let collection = ExportedObject(path)
            collection.add(
                Self.collectionInterface, on: Wallet(self, isDefault: path == Self.wallet))
            tree.export(collection)
        }
        tree.start()
        _ = try await connection.requestName("org.freedesktop.secrets", replacing: false) {}
    }

    /// The secrets in the default wallet, including those that a search does not find.
    var secrets: [String] { entries.values.map { String(decoding: $0.secret, as: UTF8.self) } }

    private func search(_ wanted: [String: String]) -> [ObjectPath] {
        entries.filter { entry in
            !entry.value.attributes.isEmpty
                && wanted.allSatisfy { entry.value.attributes[$0.key] == $0.value }
        }.keys.sorted { $0.text < $1.text }
    }

    fileprivate func create(
        _ attributes: [String: String], _ secret: [UInt8], replacing: Bool
    ) throws -> ObjectPath {
        guard isOpen else {
            throw ErrorReply("org.freedesktop.Secret.Error.IsLocked", "The wallet is locked")
        }
        if replacing, let known = search(attributes).first {
            entries[known]?.secret = secret
            return known
        }
        lastNumber += 1
        let path = Self.wallet.appending("\(lastNumber)")
        entries[path] = Entry(attributes: attributes, secret: secret)
        let item = ExportedObject(path)
        item.add(Self.itemInterface, on: Item(self, path))
        tree.export(item)
        return path
    }

    fileprivate func delete(_ path: ObjectPath) {
        if isOpen { entries[path] = nil } else { entries[path]?.attributes = [:] }
    }

    private func completePrompt() {
        promptCount += 1
        isOpen = opensOnPrompt
        prompt.emit(
            Self.promptName, "Completed", !isOpen,
            Variant.array(
                isOpen ? requestedObjects.map(Variant.objectPath) : [], of: ObjectPath.signature))
    }

    // MARK: Interfaces

    private static let serviceInterface = BusInterface<FakeKWallet>(
        "org.freedesktop.Secret.Service",
        [
            .method("OpenSession", in: ["algorithm", "input"], out: ["output", "result"]) {
                (keyring, algorithm: String, _: Variant) -> (Variant, ObjectPath) in
                guard algorithm == "plain" else {
                    throw ErrorReply("org.freedesktop.DBus.Error.NotSupported", "plain only")
                }
                return (.string(""), keyring.session)
            },
            .method("SearchItems", in: ["attributes"], out: ["unlocked", "locked"]) {
                (keyring, wanted: [String: String]) -> ([ObjectPath], [ObjectPath]) in
                let found = keyring.search(wanted)
                return keyring.isOpen ? (found, []) : ([], found)
            },
            .method("ReadAlias", in: ["name"], out: ["collection"]) {
                (_, _: String) -> ObjectPath in wallet
            },
            .method("Unlock", in: ["objects"], out: ["unlocked", "prompt"]) {
                (keyring, objects: [ObjectPath]) -> ([ObjectPath], ObjectPath) in
                if keyring.isOpen { return (objects, "/") }
                keyring.requestedObjects = objects
                return ([], keyring.prompt.path)
            },
            .property("Collections") { _ in [wallet, otherWallet] },
        ])

    private static let promptInterface = BusInterface<FakeKWallet>(
        promptName,
        [
            .method("Prompt", in: ["window"]) { (keyring, _: String) in
                Task { await keyring.completePrompt() }
            },
            .method("Dismiss") { _ in },
            .signal("Completed", ["dismissed", "result"], Bool.self, Variant.self),
        ])

    private static let collectionInterface = BusInterface<Wallet>(
        "org.freedesktop.Secret.Collection",
        [
            .method(
                "CreateItem", in: ["properties", "secret", "replace"], out: ["item", "prompt"]
            ) {
                (wallet, properties: [String: Variant], secret: SessionSecret, replacing: Bool)
                    -> (ObjectPath, ObjectPath) in
                let item = try wallet.keyring.create(
                    itemAttributes(properties), secret.elements.2, replacing: replacing)
                return (item, "/")
            },
            // The other wallet is open.
            .property("Locked") { $0.isDefault && !$0.keyring.isOpen },
            .property("Label") { $0.isDefault ? "kdewallet" : "other" },
            .property("Items") { $0.isDefault ? Array($0.keyring.entries.keys) : [] },
        ] + timeProperties())

    private static let itemInterface = BusInterface<Item>(
        "org.freedesktop.Secret.Item",
        [
            .method("GetSecret", in: ["session"], out: ["secret"]) {
                (item, session: ObjectPath) -> SessionSecret in
                let secret = item.keyring.isOpen ? item.entry?.secret : nil
                return BusStruct(session, [], secret ?? [], "text/plain")
            },
            .method("Delete", out: ["prompt"]) { (item) -> ObjectPath in
                item.keyring.delete(item.path)
                return "/"
            },
            .property("Locked") { !$0.keyring.isOpen },
            .property("Label") { _ in "Fake" },
            .property("Attributes") { $0.entry?.attributes ?? [:] },
        ] + timeProperties())
}

/// One wallet.
@MainActor
private final class Wallet {
    let keyring: FakeKWallet
    let isDefault: Bool

    init(_ keyring: FakeKWallet, isDefault: Bool) {
        self.keyring = keyring
        self.isDefault = isDefault
    }
}

/// One item of the default wallet.
@MainActor
private final class Item {
    let keyring: FakeKWallet
    let path: ObjectPath
    var entry: FakeKWallet.Entry? { keyring.entries[path] }

    init(_ keyring: FakeKWallet, _ path: ObjectPath) {
        self.keyring = keyring
        self.path = path
    }
}
