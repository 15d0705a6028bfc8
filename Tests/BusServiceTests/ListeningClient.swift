import Contract
import DBus
import TestSupport
import Testing

/// A client of one account with its own connection.
@MainActor
final class ListeningClient {
    /// The signals of the account, as text.
    let signals = Observed<[String]>()
    /// The signals `Updated` alone.
    let updates = Observed<[String]>()
    private let path: ObjectPath
    private var openConnection: BusConnection?
    private var subscriptions: [SignalSubscription] = []

    init(_ path: ObjectPath = ServiceName.combined) throws {
        self.path = path
        openConnection = try PrivateBus.current.connect()
    }

    var connection: BusConnection { get throws { try #require(openConnection) } }
    var account: AccountClient { get throws { ServiceClient(try connection).account(path) } }

    /// Leaves the bus.
    func disconnect() {
        subscriptions = []
        openConnection = nil
    }

    /// Subscribes to the signals.
    func listen() async throws {
        let (signals, updates) = (signals, updates)
        try await subscribe("Updated") { signal in
            let (source, new): (String, UInt32) = try signal.read()
            updates.append("\(source) \(new)")
            signals.append("updated \(source) \(new)")
        }
        try await subscribe("PhotoChanged") { signal in
            let (photo, changes): (String, [String: Variant]) = try signal.read()
            signals.append("changed \(photo) \(changes["liked"]?.bool == true)")
        }
        try await subscribe("PhotosRemoved") { signal in
            let photos: [String] = try signal.read()
            signals.append("removed \(photos)")
        }
        try await subscribe("Changed") { signal in
            let (photo, isLiked, likes): (String, Bool, UInt32) = try signal.read()
            signals.append("like \(photo) \(isLiked) \(likes)")
        }
        try await subscribe("Failed") { signal in
            let (photo, isWanted, error, message): (String, Bool, String, String) =
                try signal.read()
            signals.append("failed \(photo) \(isWanted) \(error)")
            signals.append("failed: \(message)")
        }
        try await subscribe("PropertiesChanged") { signal in
            let (_, changes, _): (String, [String: Variant], [String]) = try signal.read()
            for name in changes.keys.sorted() { signals.append("property \(name)") }
        }
        _ = try await connection.owner(of: ServiceName.bus)
    }

    private func subscribe(
        _ member: MemberName, _ handler: @escaping (BusMessage) throws -> Void
    ) async throws {
        subscriptions.append(
            try await connection.subscribe(
                MatchRule(sender: ServiceName.bus, path: path, member: member)
            ) { try? handler($0) })
    }

    /// Waits for a signal.
    func wait(for signal: String) async throws {
        try await signals.wait { $0.contains(signal) ? true : nil }
    }

    func ids(_ source: String = "", count: UInt32 = 30) async throws -> [String] {
        try await page(count: count, source: source).ids
    }

    func page(
        _ cursor: String = "", count: UInt32 = 30, source: String = ""
    ) async throws -> (ids: [String], next: String) {
        let (photos, next) = try await account.page(source, cursor: cursor, count: count)
        return (photos.compactMap { $0["id"]?.string }, next)
    }

    func property(_ interface: InterfaceName, _ name: MemberName) async throws -> Variant {
        try await BusProxy(connection, ServiceName.bus, path).property(interface, name)
    }
}
