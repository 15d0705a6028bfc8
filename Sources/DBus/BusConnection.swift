internal import CDBus
internal import Dispatch
internal import Glibc

/// A connection to a message bus, driven by the main dispatch queue.
///
/// A private connection: nobody else in the process shares it, and the process does not end with
/// it. After ``onDisconnect`` every call fails with ``BusError/disconnected``.
@MainActor
package final class BusConnection {
    /// The name that the bus gave this connection: `:1.42`.
    package let uniqueName: BusName
    /// Whether the bus is still there.
    package var isConnected: Bool { dbus_connection_get_is_connected(raw) != 0 }
    /// Called once when the bus has gone away.
    package var onDisconnect: (() -> Void)?
    /// Called for a method call to this connection.
    var onMethodCall: ((BusMessage) -> Void)?
    /// Called for each signal that arrives.
    var onSignal: ((BusMessage) -> Void)?

    private let raw: OpaquePointer
    private let sources = EventSources()
    private var isDraining = false
    private var isDrainScheduled = false
    /// The calls that wait for their reply, by serial.
    private var waiters: [Int: ReplyWaiter] = [:]
    /// How many subscriptions want each rule; the bus is told of the first and the last one.
    private var matchRules: [String: Int] = [:]
    /// Subscriptions to the loss of the names we own.
    var nameLossHandlers: [String: SignalSubscription] = [:]
    lazy var signals = SignalRouter(connection: self)

    /// Connects to the session bus of this process's environment.
    ///
    /// - Throws: ``BusError/noBus(_:)`` when none is there.
    package static func session() throws(BusError) -> BusConnection {
        try BusConnection(address: try sessionAddress())
    }

    /// Connects to the bus that listens at `address`: `unix:path=/run/user/1000/bus`.
    ///
    /// Blocks until the bus has answered the greeting.
    ///
    /// - Throws: ``BusError/noBus(_:)`` when it cannot be reached or refuses us.
    package convenience init(address: String) throws(BusError) {
        try self.init(owning: try Self.open(address))
    }

    /// Connects as ``init(address:)`` does, and blocks a thread of its own instead.
    package static func connect(address: String) async throws -> BusConnection {
        let opened = await withCheckedContinuation { continuation in
            DispatchQueue(label: "org.imagefeed.dbus.connect").async {
                continuation.resume(
                    returning: OpenedConnection(result: Result { try open(address) }))
            }
        }
        return try BusConnection(owning: try opened.result.get())
    }

    /// Takes over a connection that the bus has greeted.
    private init(owning raw: OpaquePointer) throws(BusError) {
        self.raw = raw
        uniqueName = BusName(
            unchecked: dbus_bus_get_unique_name(raw).map { String(cString: $0) } ?? "")
        guard sources.attach(to: raw, afterEvent: { [unowned self] in drain() }) else {
            throw .noBus("there are no more file descriptors")
        }
        // The standard value of libdbus, 4096, is more than a process may have open.
        dbus_connection_set_max_received_unix_fds(raw, 256)
        receiveMessages()
        scheduleDrain()
    }

    nonisolated private static func open(_ address: String) throws(BusError) -> OpaquePointer {
        do {
            guard !address.utf8.contains(0) else {
                throw BusError.invalidValue("the address holds a NUL")
            }
            let raw = try withBusError { dbus_connection_open_private(address, $0) }
            dbus_connection_set_exit_on_disconnect(raw, 0)
            do {
                return try withBusError { dbus_bus_register(raw, $0) != 0 ? raw : nil }
            } catch {
                dbus_connection_close(raw)
                dbus_connection_unref(raw)
                throw error
            }
        } catch {
            throw .noBus(reason(error))
        }
    }

    // Optimised importers need the `@MainActor` above for this: the default is lost on them.
    isolated deinit {
        sources.detach(from: raw)
        dbus_connection_set_dispatch_status_function(raw, nil, nil, nil)
        dbus_connection_close(raw)
        dbus_connection_unref(raw)
    }

    /// The address of the session bus: `DBUS_SESSION_BUS_ADDRESS`, else the `bus` socket in
    /// `XDG_RUNTIME_DIR`.
    ///
    /// Nothing is started for the asking: a bus that only we are on helps nobody.
    package static func sessionAddress() throws(BusError) -> String {
        if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 {
            return String(cString: address)
        }
        guard let directory = getenv("XDG_RUNTIME_DIR").map({ String(cString: $0) }),
            directory.hasPrefix("/"), access("\(directory)/bus", F_OK) == 0
        else {
            throw .noBus("DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no bus")
        }
        let escaped = directory.withCString { dbus_address_escape_value($0) }
        guard let escaped else { throw .noBus("out of memory") }
        defer { dbus_free(escaped) }
        return "unix:path=\(String(cString: escaped))/bus"
    }

    /// The address of the system bus: `DBUS_SYSTEM_BUS_ADDRESS`, else the socket that the specification names.
    ///
    /// - Throws: ``BusError/noBus(_:)`` when there is none.
    package static func systemAddress() throws(BusError) -> String {
        if let address = getenv("DBUS_SYSTEM_BUS_ADDRESS"), address.pointee != 0 {
            return String(cString: address)
        }
        let socket = "/var/run/dbus/system_bus_socket"
        guard access(socket, F_OK) == 0 else { throw .noBus("there is no \(socket)") }
        return "unix:path=\(socket)"
    }

    /// Queues `message`; it goes out as soon as the socket takes it.
    ///
    /// A message to somebody who is gone, or a reply that nobody waits for, is dropped by the bus.
    package func send(_ message: BusMessage) { queue(message) }

    /// Answers a call with a reply that was marshalled before.
    func send(_ reply: PreparedReply, to call: ReplyAddress) {
        guard isConnected, let copy = reply.template.copyForSending() else { return }
        dbus_message_set_reply_serial(copy, call.serial)
        if let caller = call.caller { dbus_message_set_destination(copy, caller.text) }
        dbus_connection_send(raw, copy, nil)
        dbus_message_unref(copy)
    }

    /// Sends a call and waits for its reply.
    ///
    /// The reply has to be there before `timeout`; nil waits as long as the connection lives. Fails
    /// with ``BusError/reply(_:)`` for an error reply, or for none in time, with
    /// ``BusError/disconnected`` and with `CancellationError`. `onArrival` sees the reply before
    /// any message that came after it; the task that waits may not.
    package func call(
        _ message: BusMessage, timeout: Duration? = .seconds(25),
        onArrival: @escaping (BusMessage) -> Void = { _ in }
    ) async throws -> BusMessage {
        let waiter = ReplyWaiter(for: message, onArrival: onArrival)
        guard let serial = queue(message) else { throw BusError.disconnected }
        waiters[Int(serial)] = waiter
        defer { waiters[Int(serial)] = nil }
        scheduleDrain()
        let reply = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter.begin($0, timeout: timeout) }
        } onCancel: {
            Task { @MainActor in waiter.fail(CancellationError()) }
        }
        if let error = reply.errorReply { throw BusError.reply(error) }
        return reply
    }

    /// Calls a method and reads its results.
    ///
    /// Fails as ``call(_:timeout:onArrival:)`` does, and with ``BusError/invalidValue(_:)`` when
    /// the results are of other types.
    package func call<each In: BusType, each Out: BusType>(
        _ header: MessageHeader, _ arguments: repeat each In, timeout: Duration? = .seconds(25)
    ) async throws -> (repeat each Out) {
        let message = try BusMessage(header, repeat each arguments)
        return try await call(message, timeout: timeout).read()
    }

    /// Sends everything that is queued. Blocks; only for the end of a program.
    ///
    /// - Parameter limit: The time after which the rest is not sent, because the bus does not read.
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
    /// The kernel keeps the descriptors of a process open while one of its threads is inside a system call that cannot
    /// be interrupted, such as a read from a disk that does not respond. The name would stay owned as long as that.
    package func close() { dbus_connection_close(raw) }

    /// Gives `message` to libdbus, and tells the serial that it got; nil when it cannot be sent any
    /// more.
    @discardableResult
    private func queue(_ message: BusMessage) -> UInt32? {
        guard isConnected, let copy = message.copyForSending() else { return nil }
        defer { dbus_message_unref(copy) }
        var serial: UInt32 = 0
        return dbus_connection_send(raw, copy, &serial) != 0 ? serial : nil
    }

    // MARK: Match rules

    func addMatch(_ rule: String) {
        matchRules[rule, default: 0] += 1
        guard matchRules[rule] == 1, isConnected else { return }
        // Without a DBusError this does not wait; the bus handles it before anything we send later.
        dbus_bus_add_match(raw, rule, nil)
    }

    func removeMatch(_ rule: String) {
        guard let count = matchRules[rule] else { return }
        matchRules[rule] = count > 1 ? count - 1 : nil
        if count == 1, isConnected { dbus_bus_remove_match(raw, rule, nil) }
    }

    // MARK: Receiving

    private func receiveMessages() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        dbus_connection_add_filter(
            raw,
            { _, message, context in
                guard let message, let context else { return DBUS_HANDLER_RESULT_NOT_YET_HANDLED }
                nonisolated(unsafe) let arguments = (message, context)
                return MainActor.assumeIsolated {
                    Unmanaged<BusConnection>.fromOpaque(arguments.1).takeUnretainedValue()
                        .receive(BusMessage(receiving: dbus_message_ref(arguments.0)))
                }
            },
            context, nil)
        // libdbus may have read ahead during a send; then no watch tells of it.
        dbus_connection_set_dispatch_status_function(
            raw,
            { _, status, context in
                guard status == DBUS_DISPATCH_DATA_REMAINS, let context else { return }
                nonisolated(unsafe) let argument = context
                MainActor.assumeIsolated {
                    Unmanaged<BusConnection>.fromOpaque(argument).takeUnretainedValue()
                        .scheduleDrain()
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
                onSignal?(message)
            }
            return DBUS_HANDLER_RESULT_HANDLED
        case .methodReturn, .error:
            if let waiter = waiters[Int(message.replySerial)], waiter.finish(message) {
                waiters[Int(message.replySerial)] = nil
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

    /// Handles the messages that have arrived: some, then others have their turn on the main queue.
    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        var budget = 64
        while budget > 0, dbus_connection_dispatch(raw) == DBUS_DISPATCH_DATA_REMAINS {
            budget -= 1
        }
        isDraining = false
        if budget == 0 { scheduleDrain() }
    }

    nonisolated private static func reason(_ error: any Error) -> String {
        switch error {
        case BusError.reply(let reply): reply.message
        case BusError.invalidValue(let text): text
        default: "\(error)"
        }
    }
}

/// What came of connecting on another thread. The connection is ours alone, whoever holds it.
nonisolated private struct OpenedConnection: @unchecked Sendable {
    let result: Result<OpaquePointer, any Error>
}

nonisolated extension BusMessage {
    /// A copy with no serial, which the connection gives it. The C function is `dbus_message_copy`.
    fileprivate func copyForSending() -> OpaquePointer? { withRawMessage { dbus_message_copy($0) } }

    /// libdbus's own message to us when the connection is closed.
    fileprivate var isLocalDisconnect: Bool {
        withRawMessage { dbus_message_is_signal($0, DBUS_INTERFACE_LOCAL, "Disconnected") != 0 }
    }
}
