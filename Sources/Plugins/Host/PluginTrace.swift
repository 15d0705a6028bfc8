internal import Glibc
internal import ProviderKit

/// An event in the run of a plugin.
nonisolated package enum PluginEvent: Sendable {
    /// The process was started.
    case started(process: Int32)
    /// A message to the plugin, with the line feed at its end.
    case sent([UInt8])
    /// A line from the plugin, which may be an invalid message.
    case received([UInt8])
    /// A line of the standard error of the plugin.
    case errorLine(String)
    /// A system call failed because plugins may not make it.
    case deniedSystemCall(String)
    /// The result of a call is not valid: the call fails, and the plugin continues.
    case invalidResult(method: String, reason: String)
    /// The daemon ended the plugin, or the plugin ended by itself.
    case failed(PluginFailure, process: Int32, reason: String)
    /// The process has ended.
    case ended(process: Int32, reason: String)
}

/// The kind of a failure that ends a plugin.
nonisolated package enum PluginFailure: Sendable {
    /// The plugin sent an invalid message, or ended by itself.
    case violation
    /// The plugin exceeded a limit other than the time of a call.
    case limit
    /// The plugin did not answer a call in time.
    case timeout
}

/// The receivers of the events of one plugin. Without a receiver, an event costs one comparison. A trace continues after
/// the replacement of the plugin.
final class PluginTrace {
    /// The largest number of receivers.
    static let maximumReceivers = 4
    private static let maximumSecrets = 64

    private var receivers: [Int: (PluginEvent) -> Void] = [:]
    private var lastReceiver = 0
    /// The secrets that requests carried. A secret is wiped when its account releases it.
    private var hidden: [HiddenSecret] = []

    private struct HiddenSecret {
        weak var secret: Secret?
    }

    /// The secrets that requests carried and that accounts still use.
    var secrets: [Secret] { hidden.compactMap(\.secret) }

    /// True if there is a receiver.
    var isActive: Bool { !receivers.isEmpty }

    /// True if another receiver can be added.
    var hasRoom: Bool { receivers.count < Self.maximumReceivers }

    /// Adds a receiver.
    ///
    /// - Returns: The number of the receiver, for ``remove(_:)``.
    @discardableResult
    func add(_ receiver: @escaping (PluginEvent) -> Void) -> Int {
        lastReceiver += 1
        receivers[lastReceiver] = receiver
        return lastReceiver
    }

    /// Removes a receiver.
    func remove(_ number: Int) { receivers[number] = nil }

    /// Sends an event to the receivers.
    func record(_ event: @autoclosure () -> PluginEvent) {
        guard isActive else { return }
        let event = event()
        for receiver in receivers.values { receiver(event) }
    }

    /// Records a secret that a request carried, so that traces do not show it if the service sends it back.
    func hide(_ secret: Secret) {
        guard !hidden.contains(where: { $0.secret === secret }) else { return }
        hidden.removeAll { $0.secret == nil }
        if hidden.count == Self.maximumSecrets { hidden.removeFirst() }
        hidden.append(HiddenSecret(secret: secret))
    }
}
