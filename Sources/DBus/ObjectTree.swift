internal import Dispatch
internal import Quoting

/// The objects that a connection exports, with a root object that lists them.
///
/// It receives every method call to the connection, finds the object, the interface and the member, and sends the reply
/// or an error.
@MainActor
package final class ObjectTree {
    /// The path of the object that has `org.freedesktop.DBus.ObjectManager`.
    let root: ObjectPath
    /// The connection that exports the objects.
    package let connection: BusConnection
    /// Called when a client reads properties, before the reply.
    package var onRead: (() -> Void)?
    /// Called after each ``manyCalls`` calls.
    package var onManyCalls: (() -> Void)?
    /// Called for a call to an object that does not exist. Returns a search that may export the object, before the call
    /// is handled; nil if there is no such object.
    package var onUnknownObject: ((ObjectPath) -> (@MainActor () async -> Void)?)?
    private let makeErrorReply: (any Error) -> ErrorReply
    private let maximumTextBytes: Int
    private var objects: [String: ExportedObject] = [:]
    private var calls = CallQueue<BusMessage>()
    /// The reply to `GetManagedObjects`; nil after an object has changed.
    private var preparedObjects: PreparedReply?
    /// True after ``start()``.
    private var isStarted = false
    private var isHandlingScheduled = false
    /// The number of calls so far.
    package private(set) var handledCalls = 0
    private static let manyCalls = 1000
    /// The number of calls with file descriptors that arrived before the start.
    private var heldCallsWithDescriptors = 0
    /// The largest number of held calls with file descriptors. A call carries at most 16 descriptors.
    private static let maximumHeldWithDescriptors = 8
    /// The reply to a call above the limit of its client. It is marshalled once: a client may send very many such calls.
    private static let refusal = try? PreparedReply(CallQueue<BusMessage>.exceeded)
    /// The time after which other work on the main thread has its turn.
    private static let handlingTime = Duration.milliseconds(2)

    /// Creates an empty tree. Calls are held until ``start()``, so that a name can be owned before its objects exist.
    ///
    /// - Parameters:
    ///   - connection: The connection that exports the objects. It can have one tree.
    ///   - root: The path of the root object, which lists the others.
    ///   - maximumTextBytes: The longest string that a call may have as an argument. Each unfinished call
    ///     retains its arguments.
    ///   - errorReply: Converts the errors that handlers throw. It is not called for an ``ErrorReply`` or for a
    ///     ``BusError`` about a reply that cannot be sent.
    package init(
        _ connection: BusConnection, root: ObjectPath,
        maximumTextBytes: Int = 128 << 20, errorReply: @escaping (any Error) -> ErrorReply
    ) {
        self.maximumTextBytes = maximumTextBytes
        self.connection = connection
        self.root = root
        self.makeErrorReply = errorReply
        connection.onMethodCall = { [weak self] in self?.receive($0) }
        connection.onEvent = { [weak self] in self?.handleCalls() }
    }

    // Without a handler, libdbus replies with `UnknownMethod`. The explicit `@MainActor` of the class is required:
    // optimised importers lose the default isolation.
    isolated deinit {
        connection.onMethodCall = nil
        connection.onEvent = nil
    }

    /// Handles the held calls, and later calls as they arrive.
    package func start() {
        isStarted = true
        handleCalls()
    }

    /// The exported object at a path.
    package subscript(path: ObjectPath) -> ExportedObject? { objects[path.text] }

    /// Exports an object and emits `InterfacesAdded`.
    package func export(_ object: ExportedObject) {
        precondition(objects[object.path.text] == nil, "\(object.path) is exported already")
        objects[object.path.text] = object
        object.tree = self
        announce(added: object.interfaces, on: object)
    }

    /// Removes an object from the bus and emits `InterfacesRemoved`.
    package func remove(_ object: ExportedObject) {
        guard objects.removeValue(forKey: object.path.text) != nil else { return }
        object.flushChanges()
        object.tree = nil
        announce(removed: object.interfaces, on: object)
    }

    // MARK: Signals

    /// Discards the prepared reply that contains the object.
    func objectChanged(_ object: ExportedObject) {
        guard object.path != root else { return }
        preparedObjects = nil
    }

    func announce(added interfaces: [ExportedInterface], on object: ExportedObject) {
        objectChanged(object)
        // Clients receive these values with this signal or read them.
        for interface in interfaces { _ = interface.takeChanges() }
        // Before the start, no client has received the list of objects.
        guard isStarted, object.path != root, !interfaces.isEmpty else { return }
        emit(
            .signal(root, .objectManager, "InterfacesAdded"), object.path,
            OrderedEntries(interfaces.map { ($0.name.text, $0.allValues) }))
    }

    func announce(removed interfaces: [ExportedInterface], on object: ExportedObject) {
        objectChanged(object)
        guard object.path != root, !interfaces.isEmpty else { return }
        emit(
            .signal(root, .objectManager, "InterfacesRemoved"), object.path,
            interfaces.map(\.name.text))
    }

    func emit<each Argument: BusType>(_ header: MessageHeader, _ arguments: repeat each Argument) {
        // Only a string with a NUL cannot be sent, and no value in the daemon can contain one.
        guard let signal = try? BusMessage(header, repeat each arguments) else { return }
        connection.send(signal)
    }

    /// Returns the reply to `GetManagedObjects`: every object below the root.
    ///
    /// It is marshalled again only after an object has changed, as reported with ``ExportedObject/announceChanges()``.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` and ``BusError/tooLarge``.
    func managedObjects() throws(BusError) -> PreparedReply {
        if let preparedObjects { return preparedObjects }
        let objects = objects.values.filter { $0.path != root }
            .sorted { $0.path.text < $1.path.text }
        let reply = try PreparedReply(
            ManagedObjects(
                objects.map { object in
                    (
                        object.path,
                        OrderedEntries(object.interfaces.map { ($0.name.text, $0.allValues) })
                    )
                }))
        preparedObjects = reply
        return reply
    }

    /// Discards the prepared reply, which can be made again.
    package func releaseMemory() {
        preparedObjects = nil
    }

    /// Returns the next path element of each object below `path`, sorted.
    func children(of path: ObjectPath) -> [String] {
        Set(objects.values.compactMap { $0.path.elements(below: path)?.first.map(String.init) })
            .sorted()
    }

    // MARK: Method calls

    private func receive(_ call: BusMessage) {
        // libdbus stops reading at a limit of received descriptors, and the start waits for replies on this connection.
        let isLimited = !isStarted && call.carriesDescriptors
        let address = ReplyAddress(call)
        guard !isLimited || heldCallsWithDescriptors < Self.maximumHeldWithDescriptors,
            calls.add(call, of: address.caller)
        else {
            if let refusal = Self.refusal { connection.send(refusal, to: address) }
            return
        }
        if isLimited { heldCallsWithDescriptors += 1 }
    }

    /// Handles the waiting calls, until the bus has to read replies first or other work has its turn.
    private func handleCalls() {
        guard isStarted, !isHandlingScheduled, !calls.isEmpty else { return }
        let end = ContinuousClock.now + Self.handlingTime
        while !connection.isCongested, let call = calls.next() {
            handle(call)
            guard !calls.isEmpty, ContinuousClock.now >= end else { continue }
            isHandlingScheduled = true
            DispatchQueue.main.async { [weak self] in
                self?.isHandlingScheduled = false
                self?.handleCalls()
            }
            return
        }
    }

    private func handle(_ call: BusMessage) {
        handledCalls += 1
        if handledCalls.isMultiple(of: Self.manyCalls) { onManyCalls?() }
        let address = ReplyAddress(call)
        do {
            switch try invoke(call) {
            case .finished(let reply): connection.send(reply, to: address)
            case .running(let work): return run(work, for: address)
            }
        } catch {
            send(error, to: address)
        }
        calls.finish(address.caller)
    }

    private func invoke(_ call: BusMessage, isSearched: Bool = false) throws -> Invocation {
        guard let path = call.path, let member = call.member else {
            throw ErrorReply(.invalidArgs, "A call needs a path and a member.")
        }
        guard !call.holdsText(longerThan: maximumTextBytes) else {
            throw ErrorReply(
                .invalidArgs,
                "An argument of \(member.text.excerpt) has more than \(maximumTextBytes >> 10) KiB."
            )
        }
        guard let object = objects[path.text] ?? node(path) else {
            // libdbus stops reading at a limit of descriptors in messages.
            if !isSearched, !call.carriesDescriptors, let search = onUnknownObject?(path) {
                return .running { [self] in
                    await search()
                    switch try invoke(call, isSearched: true) {
                    case .finished(let reply): return reply
                    case .running(let work): return try await work()
                    }
                }
            }
            throw ErrorReply(.unknownObject, "There is no object \(path.text.excerpt).")
        }
        let interface = call.interface
        var isKnown = interface == nil
        for candidate in object.interfaces where interface == nil || candidate.name == interface {
            isKnown = true
            if let method = candidate.table.method(member) {
                return try method.invoke(candidate.object, call)
            }
        }
        for table in InterfaceTable.standard(for: object, root: root)
        where interface == nil || table.name == interface {
            isKnown = true
            if let method = table.method(member) { return try method.invoke(object, call) }
        }
        guard isKnown else {
            throw ErrorReply(
                .unknownInterface,
                "\(path) has no interface \(interface?.text.excerpt ?? "").")
        }
        throw ErrorReply(
            .unknownMethod,
            "\(path) has no method \("\(interface.map { "\($0)." } ?? "")\(member)".excerpt).")
    }

    /// Returns an object for a path that only has objects below it. It supports introspection only.
    private func node(_ path: ObjectPath) -> ExportedObject? {
        guard !children(of: path).isEmpty || path == .root else { return nil }
        let node = ExportedObject(path)
        node.tree = self
        return node
    }

    private func run(
        _ work: @escaping @MainActor () async throws -> PreparedReply, for call: ReplyAddress
    ) {
        // Immediate, so that calls begin in the order in which they arrived.
        Task.immediate {
            do {
                let reply = try await work()
                await connection.waitForSpace()
                connection.send(reply, to: call)
            } catch {
                send(error, to: call)
            }
            calls.finish(call.caller)
        }
    }

    private func send(_ error: any Error, to call: ReplyAddress) {
        guard call.expectsReply else { return }
        let reply = errorReply(for: error)
        // If the message cannot be sent, the caller still needs a reply.
        let prepared =
            (try? PreparedReply(reply))
            ?? (try? PreparedReply(ErrorReply(reply.name, "The error message cannot be sent.")))
        if let prepared { connection.send(prepared, to: call) }
    }

    private func errorReply(for error: any Error) -> ErrorReply {
        switch error {
        case let reply as ErrorReply: reply
        case BusError.tooLarge:
            ErrorReply(
                .limitsExceeded,
                "The reply exceeds the maximum message size of D-Bus; request less.")
        case BusError.invalidValue(let text):
            ErrorReply(.failed, "The reply cannot be sent: \(text).")
        default: makeErrorReply(error)
        }
    }
}

/// The objects with their interfaces and properties: `a{oa{sa{sv}}}`.
typealias ManagedObjects = OrderedEntries<
    ObjectPath, OrderedEntries<String, OrderedEntries<String, AnyVariant>>
>
