internal import CDBus
internal import Dispatch
internal import Glibc
internal import System

/// A connection to a message bus, driven by the event loop.
///
/// The libdbus connection is private: no other code in the process shares it, and losing it does not end the process.
/// After ``onDisconnect`` every call fails with ``BusError/disconnected``.
@MainActor
package final class BusConnection {
    /// The maximum time until the reply to a call arrives, if the call names no other: 25 seconds, as in libdbus.
    package static var defaultTimeout: Duration? = .seconds(25)
    /// The unique name that the bus assigned to this connection: `:1.42`.
    package let uniqueName: BusName
    /// True if the connection to the bus is open.
    package var isConnected: Bool { dbus_connection_get_is_connected(raw) != 0 }
    /// Called once when the connection to the bus is lost.
    package var onDisconnect: (() -> Void)?
    /// Called for each method call to this connection.
    var onMethodCall: ((BusMessage) -> Void)?
    /// Called after received messages were handled, and after queued ones were sent.
    var onEvent: (() -> Void)?

    private let raw: OpaquePointer
    private let sources = EventSources()
    private var isDraining = false
    private var isDrainScheduled = false
    /// The number of calls whose reply has arrived, and whose tasks have not resumed yet.
    private var resumingCalls = 0
    /// The senders that wait in ``waitForSpace()``.
    private var blockedSenders: [CheckedContinuation<Void, Never>] = []
    /// The calls that are waiting for a reply, by serial.
    private var waiters: [Int: ReplyWaiter] = [:]
    /// The last replies with file descriptors, by their serials. The bus rejects such a reply if the caller's connection
    /// does not accept descriptors.
    private var repliesWithDescriptors: [(serial: UInt32, call: ReplyAddress)] = []
    private static let descriptorRefusal = try? PreparedReply(
        ErrorReply(
            .notSupported, "The connection of the caller does not accept file descriptors."))
    /// The number of subscriptions per match rule. The rule is added to the bus with the first subscription and removed
    /// with the last.
    private var matchRules: [String: Int] = [:]
    /// The subscriptions to `NameLost` for the names that this connection owns.
    var nameLossHandlers: [String: SignalSubscription] = [:]
    /// The subscriptions in the order of their creation.
    var subscriptions: [SubscriptionReference] = []
    /// The well-known names that subscriptions name as senders. Any client can send a signal directly to this
    /// connection, so the bus's check of the sender is not sufficient.
    var signalSenders: [BusName: SignalSender] = [:]

    /// Connects to the session bus named in the environment of this process.
    ///
    /// - Throws: ``BusError/noBus(_:)`` if there is no session bus.
    package static func session() throws(BusError) -> BusConnection {
        try BusConnection(address: try sessionAddress())
    }

    /// Connects to the bus that listens at `address`: `unix:path=/run/user/1000/bus`.
    ///
    /// Blocks until the bus has replied to `Hello`.
    ///
    /// - Throws: ``BusError/noBus(_:)`` if the bus cannot be reached or rejects the connection.
    package convenience init(address: String) throws(BusError) {
        try self.init(owning: try Self.open(address))
    }

    /// Connects as ``init(address:)`` does, but blocks a separate thread instead of the caller.
    package static func connect(address: String) async throws -> BusConnection {
        let opened = try await DispatchQueue(label: "org.imagefeed.dbus.connect").run {
            () throws(BusError) in OpenedConnection(raw: try open(address))
        }
        return try BusConnection(owning: opened.raw)
    }

    /// Takes ownership of a connection that has been registered with the bus.
    private init(owning raw: OpaquePointer) throws(BusError) {
        self.raw = raw
        uniqueName = BusName(
            unchecked: dbus_bus_get_unique_name(raw).map { String(cString: $0) } ?? "")
        // Weak: if the last reference is released on another thread, an event may precede the deinitializer.
        guard sources.attach(to: raw, afterEvent: { [weak self] in self?.drain() }) else {
            throw .noBus("there are no more file descriptors")
        }
        // The default of libdbus, 4096, exceeds the number of descriptors that a process may have open.
        dbus_connection_set_max_received_unix_fds(raw, 256)
        // The bus reads small parts in turn from its clients. A reply in the default buffer of the kernel, 208 KiB, waits
        // for a tenth of a second behind the replies to a client with thousands of calls.
        var (descriptor, sendBufferBytes): (Int32, Int32) = (-1, 16 << 10)
        if dbus_connection_get_unix_fd(raw, &descriptor) != 0 {
            setsockopt(
                descriptor, SOL_SOCKET, SO_SNDBUF, &sendBufferBytes,
                socklen_t(MemoryLayout<Int32>.size))
        }
        receiveMessages()
        scheduleDrain()
    }

    nonisolated private static func open(_ address: String) throws(BusError) -> OpaquePointer {
        do throws(BusError) {
            guard !address.utf8.contains(0) else {
                throw .noBus("the address contains a NUL character")
            }
            let raw = try withBusError { dbus_connection_open_private(address, $0) }
            dbus_connection_set_exit_on_disconnect(raw, 0)
            do throws(BusError) {
                return try withBusError { dbus_bus_register(raw, $0) != 0 ? raw : nil }
            } catch {
                dbus_connection_close(raw)
                dbus_connection_unref(raw)
                throw error
            }
        } catch .reply(let reply) {
            throw .noBus(reply.message)
        } catch .invalidValue(let text) {
            throw .noBus(text)
        }
    }

    // The explicit `@MainActor` of the class is required: optimised importers lose the default isolation.
    isolated deinit {
        sources.detach(from: raw)
        dbus_connection_set_dispatch_status_function(raw, nil, nil, nil)
        dbus_connection_close(raw)
        dbus_connection_unref(raw)
    }

    /// Returns the address of the session bus: `DBUS_SESSION_BUS_ADDRESS`, else the socket `bus` in `XDG_RUNTIME_DIR`.
    ///
    /// Unlike `autolaunch:`, this method never starts a bus, which would have no other client.
    package static func sessionAddress() throws(BusError) -> String {
        if let address = variable("DBUS_SESSION_BUS_ADDRESS") { return address }
        guard let directory = variable("XDG_RUNTIME_DIR"), directory.hasPrefix("/"),
            access("\(directory)/bus", F_OK) == 0
        else {
            throw .noBus("DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no bus")
        }
        let escaped = directory.withCString { dbus_address_escape_value($0) }
        guard let escaped else { throw .noBus("out of memory") }
        defer { dbus_free(escaped) }
        return "unix:path=\(String(cString: escaped))/bus"
    }

    /// Returns the address of the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, else the socket that the specification names.
    ///
    /// - Throws: ``BusError/noBus(_:)`` if the socket does not exist.
    package static func systemAddress() throws(BusError) -> String {
        if let address = variable("DBUS_SYSTEM_BUS_ADDRESS") { return address }
        let socket = "/var/run/dbus/system_bus_socket"
        guard access(socket, F_OK) == 0 else { throw .noBus("there is no \(socket)") }
        return "unix:path=\(socket)"
    }

    /// Returns the value of an environment variable; nil if it is not set or empty.
    private static func variable(_ name: String) -> String? {
        getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }

    /// Queues `message`; it is sent as soon as the socket accepts it.
    ///
    /// The bus drops a message to a destination that has disconnected, and a reply that the caller no longer expects.
    package func send(_ message: BusMessage) { queue(message) }

    /// Replies to a call, if its sender expects a reply.
    func send(_ reply: PreparedReply, to call: ReplyAddress) {
        guard call.expectsReply, isConnected, let copy = reply.template.copyForSending() else {
            return
        }
        dbus_message_set_reply_serial(copy, call.serial)
        if let caller = call.caller { dbus_message_set_destination(copy, caller.text) }
        guard let serial = queue(copy), reply.template.carriesDescriptors else { return }
        repliesWithDescriptors = repliesWithDescriptors.suffix(63) + [(serial, call)]
    }

    /// Sends a call and waits for its reply.
    ///
    /// - Parameters:
    ///   - message: The call.
    ///   - timeout: The maximum time until the reply arrives; nil waits until the connection is closed.
    ///   - onArrival: Receives the reply before any later message is handled. A task of the main actor that awaits the
    ///     reply resumes before later messages, too; a task that has to change the executor may resume after them.
    /// - Returns: The reply, which is not an error reply.
    /// - Throws: ``BusError/reply(_:)`` for an error reply and on timeout, ``BusError/disconnected``, and
    ///   `CancellationError`.
    package func call(
        _ message: BusMessage, timeout: Duration? = BusConnection.defaultTimeout,
        onArrival: @escaping (BusMessage) -> Void = { _ in }
    ) async throws -> BusMessage {
        let waiter = ReplyWaiter(for: message, onArrival: onArrival)
        guard let serial = queue(message) else { throw BusError.disconnected }
        waiters[Int(serial)] = waiter
        defer { waiters[Int(serial)] = nil }
        scheduleDrain()
        let reply = try await waiter.reply(timeout: timeout)
        resumingCalls -= 1
        scheduleDrain()
        if let error = reply.errorReply { throw BusError.reply(error) }
        return reply
    }

    /// Calls a method and reads its results.
    ///
    /// - Throws: The errors of ``call(_:timeout:onArrival:)``, and ``BusError/invalidValue(_:)`` if the results have
    ///   other types.
    package func call<each In: BusType, each Out: BusType>(
        _ header: MessageHeader, _ arguments: repeat each In,
        timeout: Duration? = BusConnection.defaultTimeout
    ) async throws -> (repeat each Out) {
        let message = try BusMessage(header, repeat each arguments)
        return try await call(message, timeout: timeout).read()
    }

    /// Sends all queued messages. Blocks; only for use at the end of a program.
    ///
    /// - Parameter limit: The maximum time. Messages that the bus has not read by then are not sent.
    package func flush(within limit: Duration = .milliseconds(500)) {
        let deadline = ContinuousClock.now + limit
        while isConnected, dbus_connection_has_messages_to_send(raw) != 0 {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else { return }
            let milliseconds = Int32(rest / .milliseconds(1)) + 1
            guard dbus_connection_read_write(raw, milliseconds) != 0 else { return }
        }
    }

    /// Closes the socket, at the end of the process.
    ///
    /// The kernel keeps the descriptors of a process open while one of its threads is in an uninterruptible system
    /// call, such as a read from a disk that does not respond. Without this call, the bus name would stay owned for
    /// that time.
    package func close() { dbus_connection_close(raw) }

    // MARK: Congestion

    /// The number of queued bytes from which no more calls are handled, and finished calls wait with their replies.
    ///
    /// The bus reads 2 KiB in turn from its clients, and searches all calls without a reply for each call. Replies to
    /// thousands of calls that wait behind pages would delay the messages of all clients for seconds.
    private static let maximumQueuedBytes = 32 << 10

    /// True if the bus reads slower than messages are queued.
    var isCongested: Bool {
        isConnected && dbus_connection_get_outgoing_size(raw) > Self.maximumQueuedBytes
    }

    /// Waits until the bus has read enough of the queued messages for another large one.
    func waitForSpace() async {
        while isCongested { await withCheckedContinuation { blockedSenders.append($0) } }
    }

    private func resumeSenders() {
        guard !blockedSenders.isEmpty, !isCongested else { return }
        let senders = blockedSenders
        blockedSenders = []
        senders.forEach { $0.resume() }
    }

    /// Passes `message` to libdbus.
    ///
    /// - Returns: The serial of the message; nil if it cannot be sent because the connection is closed.
    @discardableResult
    private func queue(_ message: BusMessage) -> UInt32? {
        guard isConnected, let copy = message.copyForSending() else { return nil }
        return queue(copy)
    }

    private func queue(_ copy: OpaquePointer) -> UInt32? {
        defer { dbus_message_unref(copy) }
        let wasCongested = isCongested
        var serial: UInt32 = 0
        guard dbus_connection_send(raw, copy, &serial) != 0 else { return nil }
        // The send itself may have written the queue; then no event follows.
        if wasCongested, !isCongested { scheduleDrain() }
        return serial
    }

    // MARK: Match rules

    func addMatch(_ rule: String) {
        matchRules[rule, default: 0] += 1
        guard matchRules[rule] == 1, isConnected else { return }
        // Without a DBusError the call does not block. The bus handles it before any message that is sent later.
        dbus_bus_add_match(raw, rule, nil)
    }

    func removeMatch(_ rule: String) {
        guard let count = matchRules[rule] else { return }
        matchRules[rule] = count > 1 ? count - 1 : nil
        if count == 1, isConnected { dbus_bus_remove_match(raw, rule, nil) }
    }

    // MARK: Receiving

    private func receiveMessages() {
        let context = CallbackContext.pointer(to: self)
        dbus_connection_add_filter(
            raw,
            { _, message, context in
                let result = CallbackContext.enter(context, message) {
                    (connection: BusConnection, message) in
                    message.map {
                        connection.receive(
                            BusMessage(owning: dbus_message_ref($0), isReceived: true))
                    }
                }
                return (result ?? nil) ?? DBUS_HANDLER_RESULT_NOT_YET_HANDLED
            },
            context, nil)
        // libdbus may have read ahead during a send; no watch becomes ready for those messages.
        dbus_connection_set_dispatch_status_function(
            raw,
            { _, status, context in
                guard status == DBUS_DISPATCH_DATA_REMAINS else { return }
                CallbackContext.enter(context, ()) { (connection: BusConnection, _) in
                    connection.scheduleDrain()
                }
            },
            context, nil)
    }

    private func receive(_ message: BusMessage) -> DBusHandlerResult {
        switch message.kind {
        case .methodCall:
            guard let onMethodCall else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
            onMethodCall(message)
            return DBUS_HANDLER_RESULT_HANDLED
        case .signal:
            if message.isLocalDisconnect {
                for waiter in waiters.values { waiter.fail(BusError.disconnected) }
                onDisconnect?()
            } else {
                deliver(message)
            }
            return DBUS_HANDLER_RESULT_HANDLED
        case .methodReturn, .error:
            if let waiter = waiters[Int(message.replySerial)], waiter.finish(message) {
                waiters[Int(message.replySerial)] = nil
                resumingCalls += 1
            } else if message.kind == .error, message.sender == .bus,
                let reply = repliesWithDescriptors.first(where: {
                    $0.serial == message.replySerial
                }), let refusal = Self.descriptorRefusal
            {
                send(refusal, to: reply.call)
            }
            return DBUS_HANDLER_RESULT_HANDLED
        case nil:
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
    }

    private func scheduleDrain() {
        guard !isDraining, !isDrainScheduled, !sources.isInEvent else { return }
        isDrainScheduled = true
        DispatchQueue.main.async { [weak self] in
            self?.isDrainScheduled = false
            self?.drain()
        }
    }

    /// Receives up to 256 messages, then yields to other work on the main queue. Calls are only accepted, see
    /// ``onEvent``: a client with many calls does not delay the messages of others.
    ///
    /// The messages after a reply are handled after the task that awaits the reply has resumed: a signal that follows a
    /// reply is newer than the values in the reply.
    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        var budget = 256
        while budget > 0, resumingCalls == 0,
            dbus_connection_dispatch(raw) == DBUS_DISPATCH_DATA_REMAINS
        {
            budget -= 1
        }
        isDraining = false
        if budget == 0 { scheduleDrain() }
        resumeSenders()
        onEvent?()
    }
}

/// The result of connecting on another thread. Sendable because no other code uses the connection until it is handed
/// over.
nonisolated private struct OpenedConnection: @unchecked Sendable {
    let raw: OpaquePointer
}

nonisolated extension BusMessage {
    /// Returns a copy without a serial; sending assigns one. The C function is `dbus_message_copy`.
    fileprivate func copyForSending() -> OpaquePointer? { withRawMessage { dbus_message_copy($0) } }

    /// True if this is the message that libdbus itself delivers when the connection is closed.
    fileprivate var isLocalDisconnect: Bool {
        withRawMessage { dbus_message_is_signal($0, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 }
    }
}
