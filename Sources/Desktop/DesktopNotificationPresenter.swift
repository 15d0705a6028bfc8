package import DBus
package import EngineCore

/// A presenter that shows notifications with the notification service of the desktop.
///
/// The presenter does not access the service before the first notification. A missing or hanging service has no other
/// effect than the loss of the notification. An event reports that a service appeared.
///
/// Source: Desktop Notifications Specification 1.2.
package final class DesktopNotificationPresenter: NotificationPresenter {
    package var onEvent: (NotificationEvent) -> Void = { _ in }
    /// True if the user enabled notifications.
    package var isWanted = true {
        didSet {
            guard isWanted != oldValue else { return }
            let shown = Array(ids.keys)
            if !isWanted, !shown.isEmpty {
                for number in shown { withdraw(number) }
                onEvent(.lost(shown))
            }
            if isWanted { onEvent(.serviceAppeared) }
        }
    }
    private let connection: BusConnection
    private var watch: Task<[SignalSubscription], any Error>?
    /// The capabilities of the running service; nil if they are unknown.
    private var capabilities: [String]?
    /// The IDs of the shown notifications, by number.
    private var ids: [Int: UInt32] = [:]
    /// The numbers of the notifications on which the user may still act, by ID.
    private var numbers: [UInt32: Int] = [:]
    /// The last activation token, and the ID of its notification.
    private var token: (id: UInt32, text: String)?
    /// The number of changes of the owner of the service's name.
    private var ownerChanges = 0

    private static let service: BusName = "org.freedesktop.Notifications"
    private static let path: ObjectPath = "/org/freedesktop/Notifications"
    private static let interface: InterfaceName = "org.freedesktop.Notifications"

    /// - Parameter connection: The connection to the session bus.
    package init(_ connection: BusConnection) { self.connection = connection }

    // MARK: NotificationPresenter

    package func show(_ notice: NotificationContent, as number: Int) async -> Bool {
        // A service that appeared meanwhile does not have the notification. There is no third attempt, because a
        // service may crash with each call.
        for _ in 0..<2 {
            guard isWanted else { return false }
            let before = ownerChanges
            if (try? await notify(notice, number)) != nil, ids[number] != nil { return true }
            guard ownerChanges != before else { return false }
        }
        return false
    }

    private func notify(_ notice: NotificationContent, _ number: Int) async throws {
        try await subscribe()
        let form = notice.form(try await fetchCapabilities())
        let call = try BusMessage(
            .methodCall(Self.service, Self.path, Self.interface, "Notify"),
            "Image Feed", ids[number] ?? 0, "dialog-warning", form.summary, form.body,
            form.actions, notice.hints, -1 as Int32)
        // The ID is stored on arrival, because the next message may already contain an action of the user.
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
        // The service may have closed the notification already; its reply does not matter.
        let call = try? BusMessage(
            .methodCall(Self.service, Self.path, Self.interface, "CloseNotification"), id)
        if let call { connection.send(call) }
    }

    // MARK: The service

    private func fetchCapabilities() async throws -> [String] {
        if let capabilities { return capabilities }
        let capabilities: [String]
        do {
            capabilities = try await connection.call(
                .methodCall(Self.service, Self.path, Self.interface, "GetCapabilities"))
        } catch BusError.reply(let error) where error.name == .unknownMethod {
            capabilities = []
        }
        self.capabilities = capabilities
        return capabilities
    }

    private func subscribe() async throws {
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
        capabilities = nil
        let lost = Array(ids.keys)
        // An ID belongs to one service. Another service uses the same IDs for other notifications.
        ids = [:]
        numbers = [:]
        token = nil
        if !lost.isEmpty { onEvent(.lost(lost)) }
        if isThere { onEvent(.serviceAppeared) }
    }

    private func receive(_ signal: BusMessage) {
        switch signal.member {
        case "ActivationToken":
            guard let (id, text): (UInt32, String) = try? signal.read() else { return }
            token = (id, text)
        case "ActionInvoked":
            guard let (id, key): (UInt32, String) = try? signal.read(), let number = numbers[id],
                let action = NotificationAction(rawValue: key)
            else { return }
            let text = token?.id == id ? token?.text : nil
            token = nil
            onEvent(.invoked(action, number, activationToken: text ?? ""))
        case "NotificationClosed":
            guard let (id, reason): (UInt32, UInt32) = try? signal.read(),
                let number = numbers[id], ids[number] == id
            else { return }
            // The reason 1 means expired. The service may still list an expired notification and replace it there.
            if reason != 1 { ids[number] = nil }
            onEvent(reason == 1 ? .expired(number) : .dismissed(number))
        default: break
        }
    }
}
