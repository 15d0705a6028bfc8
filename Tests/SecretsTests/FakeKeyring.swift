import DBus
import TestSupport

/// A Secret Service with one item that imitates the behaviour of various implementations.
///
/// oo7 differs from gnome-keyring: `CreateItem` and `Delete` in a locked collection return a prompt, after which they are
/// performed; the prompt of `Unlock` reports the requested objects; and a locked item has no properties except `Locked`.
/// The item here never has them.
///
/// Source: freedesktop Secret Service API, draft 0.2; `server/src/{service,collection,item,prompt}/mod.rs` of
/// linux-credentials/oo7 at 02fe3e8.
@MainActor
final class FakeKeyring {
    enum PromptBehavior {
        case unlocks
        case dismisses
        /// Dismisses with a result of an unexpected type.
        case dismissesLikeKeePassXC
        /// Shows no prompt and never sends a result.
        case isSilent
    }

    /// True if calls get no reply.
    var isSilent = false
    var hasDefaultCollection = true
    var isLocked = false
    /// True if searches do not find locked items, as in KeePassXC.
    var hidesLockedItems = false
    /// True if storing a secret requires a prompt.
    var promptsBeforeStoring = false
    /// True if deletions succeed without an effect.
    var ignoresDeletions = false
    var prompts = PromptBehavior.dismisses
    /// The number of prompts so far.
    let promptCount = Observed(0)
    /// The number of prompts that the client dismissed.
    let dismissals = Observed(0)
    /// The number of open sessions.
    let sessionCount = Observed(0)
    /// The number of searches.
    private(set) var searches = 0

    private let isOo7: Bool
    private let connection: BusConnection
    private let tree: ObjectTree
    private let prompt = ExportedObject("/org/freedesktop/secrets/prompt/1")
    private let never = Observed(false)
    fileprivate var attributes: [String: String]?
    fileprivate var secret: [UInt8] = []

    fileprivate static let session: ObjectPath = "/org/freedesktop/secrets/session/1"
    fileprivate static let collection: ObjectPath = "/org/freedesktop/secrets/collection/1"
    fileprivate static let item: ObjectPath = "/org/freedesktop/secrets/collection/1/1"

    init(on connection: BusConnection, isOo7: Bool = false) async throws {
        self.isOo7 = isOo7
        self.connection = connection
        tree = ObjectTree(connection, root: "/org/freedesktop/secrets") { error in
            ErrorReply(.failed, "\(error)")
        }
        let service = ExportedObject("/org/freedesktop/secrets")
        service.add(Self.serviceInterface, on: self)
        let collection = ExportedObject(Self.collection)
        collection.add(Self.collectionInterface, on: self)
        let item = ExportedObject(Self.item)
        item.add(isOo7 ? Self.lockableItemInterface : Self.itemInterface, on: self)
        prompt.add(Self.promptInterface, on: self)
        let session = ExportedObject(Self.session)
        session.add(Self.sessionInterface, on: self)
        for object in [service, collection, item, prompt, session] { tree.export(object) }
        tree.start()
        _ = try await connection.requestName("org.freedesktop.secrets", replacing: false) {}
    }

    private func waitIfSilent() async throws {
        if isSilent { try await never.wait { $0 ? true : nil } }
    }

    /// The purpose of the prompt, which determines the type of its result.
    private enum Purpose {
        case unlocking
        case creating
        case deleting
    }
    private var purpose = Purpose.unlocking
    /// The change that oo7 performs after the prompt.
    private var change: () -> Void = {}
    private var requestedObjects: [ObjectPath] = []

    private func preparePrompt(_ purpose: Purpose) -> ObjectPath {
        self.purpose = purpose
        return prompt.path
    }

    private func completePrompt() async throws {
        promptCount.update { $0 += 1 }
        switch prompts {
        case .isSilent: try await never.wait { $0 ? true : nil }
        case .unlocks:
            isLocked = false
            change()
            change = {}
        case .dismisses, .dismissesLikeKeePassXC: break
        }
        let objects = isOo7 ? requestedObjects : [Self.collection]
        let unlocked = isLocked ? [] : objects.map(Variant.objectPath)
        let result: Variant =
            switch purpose {
            case _ where prompts == .dismissesLikeKeePassXC: .string("")
            case .unlocking: .array(unlocked, of: ObjectPath.signature)
            case .creating: .objectPath(isOo7 && !isLocked ? Self.item : "/")
            case .deleting: .objectPath("/")
            }
        prompt.emit(Self.promptName, "Completed", prompts != .unlocks, result)
    }

    // MARK: Interfaces

    private static let promptName: InterfaceName = "org.freedesktop.Secret.Prompt"

    private static let serviceInterface = BusInterface<FakeKeyring>(
        "org.freedesktop.Secret.Service",
        [
            .asyncMethod("OpenSession", in: ["algorithm", "input"], out: ["output", "result"]) {
                (keyring, algorithm: String, _: Variant) -> (Variant, ObjectPath) in
                try await keyring.waitIfSilent()
                guard algorithm == "plain" else {
                    throw ErrorReply("org.freedesktop.DBus.Error.NotSupported", "plain only")
                }
                keyring.sessionCount.update { $0 += 1 }
                return (.string(""), session)
            },
            .property("Collections") { $0.hasDefaultCollection ? [collection] : [] },
            .method("SearchItems", in: ["attributes"], out: ["unlocked", "locked"]) {
                (keyring, wanted: [String: String]) -> ([ObjectPath], [ObjectPath]) in
                keyring.searches += 1
                guard let attributes = keyring.attributes,
                    wanted.allSatisfy({ attributes[$0.key] == $0.value })
                else { return ([], []) }
                guard keyring.isLocked else { return ([item], []) }
                return ([], keyring.hidesLockedItems ? [] : [item])
            },
            .method("ReadAlias", in: ["name"], out: ["collection"]) {
                (keyring, _: String) -> ObjectPath in
                keyring.hasDefaultCollection ? collection : "/"
            },
            .method("Unlock", in: ["objects"], out: ["unlocked", "prompt"]) {
                (keyring, objects: [ObjectPath]) -> ([ObjectPath], ObjectPath) in
                keyring.requestedObjects = objects
                return keyring.isLocked ? ([], keyring.preparePrompt(.unlocking)) : (objects, "/")
            },
            .method(
                "CreateCollection", in: ["properties", "alias"], out: ["collection", "prompt"]
            ) { (keyring, _: [String: Variant], _: String) -> (ObjectPath, ObjectPath) in
                ("/", keyring.preparePrompt(.creating))
            },
        ])

    private static let promptInterface = BusInterface<FakeKeyring>(
        promptName,
        [
            .method("Prompt", in: ["window"]) { (keyring, _: String) in
                Task { try? await keyring.completePrompt() }
            },
            .asyncMethod("Dismiss") { (keyring) in
                keyring.dismissals.update { $0 += 1 }
                if keyring.prompts == .isSilent { try await keyring.never.wait { $0 ? true : nil } }
            },
            .signal("Completed", ["dismissed", "result"], Bool.self, Variant.self),
        ])

    private static let sessionInterface = BusInterface<FakeKeyring>(
        "org.freedesktop.Secret.Session",
        [.method("Close") { (keyring) in keyring.sessionCount.update { $0 -= 1 } }])

    private static let collectionInterface = BusInterface<FakeKeyring>(
        "org.freedesktop.Secret.Collection",
        [
            .method(
                "CreateItem", in: ["properties", "secret", "replace"], out: ["item", "prompt"]
            ) {
                (keyring, properties: [String: Variant], secret: SessionSecret, _: Bool)
                    -> (ObjectPath, ObjectPath) in
                if keyring.promptsBeforeStoring { return ("/", keyring.preparePrompt(.creating)) }
                let change = {
                    keyring.attributes = itemAttributes(properties)
                    keyring.secret = secret.elements.2
                }
                if keyring.isOo7, keyring.isLocked {
                    keyring.change = change
                    return ("/", keyring.preparePrompt(.creating))
                }
                change()
                return (item, "/")
            },
            .property("Locked") { $0.isLocked },
            .property("Label") { _ in "Fake" },
            .property("Items") { _ in [item] },
        ] + timeProperties())

    private static let itemMethods: [BusMember<FakeKeyring>] = [
        .method("GetSecret", in: ["session"], out: ["secret"]) {
            (keyring, session: ObjectPath) -> SessionSecret in
            if keyring.isOo7, keyring.isLocked {
                throw ErrorReply("org.freedesktop.Secret.Error.IsLocked", "locked")
            }
            return BusStruct(session, [], keyring.secret, "text/plain")
        },
        .method("Delete", out: ["prompt"]) { (keyring) -> ObjectPath in
            let change = { if !keyring.ignoresDeletions { keyring.attributes = nil } }
            if keyring.isOo7, keyring.isLocked {
                keyring.change = change
                return keyring.preparePrompt(.deleting)
            }
            change()
            return "/"
        },
        .property("Locked") { $0.isLocked },
    ]

    private static let lockableItemInterface = BusInterface<FakeKeyring>(
        "org.freedesktop.Secret.Item", itemMethods)

    private static let itemInterface = BusInterface<FakeKeyring>(
        "org.freedesktop.Secret.Item",
        itemMethods + [
            .property("Label") { _ in "Fake" },
            .property("Attributes") { $0.attributes ?? [:] },
        ] + timeProperties())
}

/// The session, parameters, value and content type of a secret.
typealias SessionSecret = BusStruct<ObjectPath, [UInt8], [UInt8], String>

/// Returns the properties of all collections and items.
@MainActor
func timeProperties<Object>() -> [BusMember<Object>] {
    ["Created", "Modified"].map { .property($0) { _ in 1 as UInt64 } }
}

/// Returns the attributes that the properties of a new item contain.
func itemAttributes(_ properties: [String: Variant]) -> [String: String] {
    let attributes = properties["org.freedesktop.Secret.Item.Attributes"]
    guard case .dictionary(let entries, _, _)? = attributes else { return [:] }
    return entries.reduce(into: [:]) { $0[$1.key.string ?? ""] = $1.value.string }
}
