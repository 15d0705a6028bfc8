import Contract
import DBus
import TestSupport
import Testing

/// A client of the combined account with its own connection.
@MainActor
final class CombinedClient {
    let connection: BusConnection
    /// The signals of the combined account, as text.
    let signals = Observed<[String]>()
    private var subscriptions: [SignalSubscription] = []

    init() throws { connection = try PrivateBus.current.connect() }

    var combined: AccountClient { ServiceClient(connection).combined }

    /// Subscribes to the signals.
    func listen() async throws {
        let signals = signals
        try await subscribe("Updated") { signal in
            let (source, new): (String, UInt32) = try signal.read()
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
                MatchRule(sender: ServiceName.bus, path: ServiceName.combined, member: member)
            ) { try? handler($0) })
    }

    /// Waits for a signal.
    func wait(for signal: String) async throws {
        try await signals.wait { $0.contains(signal) ? true : nil }
    }

    func page(
        _ cursor: String = "", count: UInt32 = 30, source: String = ""
    ) async throws -> (ids: [String], next: String) {
        let (photos, next) = try await combined.page(source, cursor: cursor, count: count)
        return (photos.compactMap { $0["id"]?.string }, next)
    }

    func property(_ interface: InterfaceName, _ name: MemberName) async throws -> Variant {
        try await BusProxy(connection, ServiceName.bus, ServiceName.combined).property(
            interface, name)
    }
}
