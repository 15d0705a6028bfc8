package import DBus
package import Engine

/// The notification service of the desktop, as a board for notices.
///
/// Nothing is started, asked or listened to before the first notice. A service that is missing, hangs or goes
/// away costs the notice its place on the desktop and nothing else; one that comes is told of to the delegate.
///
/// Source: Desktop Notifications Specification 1.2.
package final class DesktopNotificationPresenter: NotificationPresenter {
    package weak var delegate: (any NoticeBoardDelegate)?
    /// Whether the user wants to see notices at all.
    package var isWanted = true {
        didSet {
            guard isWanted != oldValue else { return }
            let shown = Array(ids.keys)
            if !isWanted, !shown.isEmpty {
                for number in shown { withdraw(number) }
                delegate?.noticesLost(shown)
            }
            if isWanted { delegate?.boardAppeared() }
        }
    }
    private let connection: BusConnection
    private var watch: Task<[SignalSubscription], any Error>?
    /// What the service that is there can do; nil if it was not asked.
    private var abilities: DesktopAbilities?
    /// The ids of the notices that are there, by number.
    private var ids: [Int: UInt32] = [:]
    /// The numbers behind all ids that the user may still act upon.
    private var numbers: [UInt32: Int] = [:]
    /// What lets the next thing come to the front, and the notification that it belongs to.
    private var token: (id: UInt32, text: String)?
    /// How often another service has come, or one has gone.
    private var ownerChanges = 0

    private static let service: BusName = "org.freedesktop.Notifications"
    private static let path: ObjectPath = "/org/freedesktop/Notifications"
    private static let interface: InterfaceName = "org.freedesktop.Notifications"

    /// - Parameter connection: To the session bus.
    package init(_ connection: BusConnection) { self.connection = connection }

    // MARK: NoticeBoard

    package func show(_ notice: NotificationContent, as number: Int) async -> Bool {
        // When another service has come meanwhile, it has not heard of the notice. One that ends whenever it is
        // called is not called for ever.
        for _ in 0..<2 {
            guard isWanted else { return false }
            let before = ownerChanges
            if (try? await notify(notice, number)) != nil, ids[number] != nil { return true }
            guard ownerChanges != before else { return false }
        }
        return false
    }

    private func notify(_ notice: NotificationContent, _ number: Int) async throws {
        try await listen()
        let form = DesktopNotification(notice, try await askForAbilities())
        let call = try BusMessage(
            .methodCall(Self.service, Self.path, Self.interface, "Notify"),
            "Image Feed", ids[number] ?? 0, form.icon, form.summary, form.body, form.actions,
            form.hints, -1 as Int32)
        // On arrival: the next message may already say that the user has acted on it.
        _ = try await connection.call(
            call,
            onArrival: { [self] reply in
                guard let id: UInt32 = try? reply.read(), id != 0 else { return }
                if let old = ids.updateValue(id, forKey: number), old != id { numbers[old] = nil }
                numbers[id] = number
            })
    }

    package func withdraw(_ number: Int) {
        guard let id = ids.removeValue(forKey: number) else { return }
        numbers[id] = nil
        close(id)
    }

    private func close(_ id: UInt32) {
        // Whether it was still there, nobody needs to know.
        let call = try? BusMessage(
            .methodCall(Self.service, Self.path, Self.interface, "CloseNotification"), id)
        if let call { connection.send(call) }
    }

    // MARK: The service

    private func askForAbilities() async throws -> DesktopAbilities {
        if let abilities { return abilities }
        let names: [String]
        do {
            names = try await connection.call(
                .methodCall(Self.service, Self.path, Self.interface, "GetCapabilities"))
        } catch BusError.reply(let error) where error.name == .unknownMethod {
            names = []
        }
        let abilities = DesktopAbilities(names)
        self.abilities = abilities
        return abilities
    }

    private func listen() async throws {
        if let watch {
            _ = try await watch.value
            return
        }
        let watch = Task { [weak self, connection] in
            let signals = try await connection.subscribe(
                MatchRule(sender: Self.service, path: Self.path, interface: Self.interface)
            ) { self?.receive($0) }
            let owner = try await connection.watchOwner(of: Self.service) { owner in
                self?.ownerChanged(isThere: owner != nil)
            }
            return [signals, owner]
        }
        self.watch = watch
        do {
            _ = try await watch.value
        } catch {
            self.watch = nil
            throw error
        }
    }

    private func ownerChanged(isThere: Bool) {
        ownerChanges += 1
        abilities = nil
        let lost = Array(ids.keys)
        // The ids mean nothing to another, and what another calls by them is not ours.
        ids = [:]
        numbers = [:]
        token = nil
        if !lost.isEmpty { delegate?.noticesLost(lost) }
        if isThere { delegate?.boardAppeared() }
    }

    private func receive(_ signal: BusMessage) {
        switch signal.member {
        case "ActivationToken":
            guard let (id, text): (UInt32, String) = try? signal.read() else { return }
            token = (id, text)
        case "ActionInvoked":
            guard let (id, key): (UInt32, String) = try? signal.read(), let number = numbers[id],
                let action = NoticeAction(rawValue: key)
            else { return }
            let text = token?.id == id ? token?.text : nil
            token = nil
            delegate?.noticeInvoked(action, number, activationToken: text ?? "")
        case "NotificationClosed":
            guard let (id, reason): (UInt32, UInt32) = try? signal.read(),
                let number = numbers[id], ids[number] == id
            else { return }
            // 1 is expired. Then the service may still have it in a list, where it can be replaced.
            if reason != 1 { ids[number] = nil }
            delegate?.noticeClosed(number, reason == 1 ? .expired : .dismissed)
        default: break
        }
    }
}
