internal import Quoting

/// The objects that a connection exports, below one root that lists them.
///
/// Takes every method call to the connection: finds the object, the interface and the member, and
/// sends the reply or an error. Whatever a caller sends ends in one of the two.
@MainActor
package final class ObjectTree {
    /// The path of the object that has `org.freedesktop.DBus.ObjectManager`.
    let root: ObjectPath
    /// The connection that exports the objects.
    package let connection: BusConnection
    /// Called when a client reads properties, before the reply.
    package var onRead: (() -> Void)?
    private let errorReply: (any Error) -> ErrorReply
    private let maximumTextBytes: Int
    private var objects: [String: ExportedObject] = [:]
    private var running = RunningCalls()
    /// The reply to `GetManagedObjects`; nil after a change of an object.
    private var preparedObjects: PreparedReply?
    /// The calls that came before ``start()``, in their order; nil once they are being answered.
    private var held: [BusMessage]? = []
    /// The number of held calls with file descriptors.
    private var heldWithDescriptors = 0
    /// The largest number of held calls with file descriptors. A call has 16 of them at most.
    private static let maximumHeldWithDescriptors = 8

    /// Until ``start()`` calls are held, so that a name can be owned before its objects are there.
    ///
    /// - Parameters:
    ///   - connection: Where to export. One tree a connection.
    ///   - root: The path of the root object, which lists the others.
    ///   - maximumTextBytes: The longest string that a call may have as an argument. A thousand calls of a
    ///     client may be running, and each keeps its arguments.
    ///   - errorReply: Names the errors that handlers throw. An ``ErrorReply``, and a ``BusError``
    ///     about an answer that cannot be sent, never gets there.
    package init(
        _ connection: BusConnection, root: ObjectPath,
        maximumTextBytes: Int = 128 << 20, errorReply: @escaping (any Error) -> ErrorReply
    ) {
        self.maximumTextBytes = maximumTextBytes
        self.connection = connection
        self.root = root
        self.errorReply = errorReply
        connection.onMethodCall = { [weak self] in self?.receive($0) }
    }

    // Then libdbus answers that there is no such method.
    // Optimised importers need the `@MainActor` above for this: the default is lost on them.
    isolated deinit { connection.onMethodCall = nil }

    /// Answers the calls that were held, in their order, and from now on each as it comes.
    package func start() {
        guard let calls = held else { return }
        held = nil
        for call in calls {
            running.end(call.sender)
            receive(call)
        }
    }

    /// Puts an object on the bus, and says so with `InterfacesAdded`.
    package func export(_ object: ExportedObject) {
        precondition(objects[object.path.text] == nil, "\(object.path) is exported already")
        objects[object.path.text] = object
        object.tree = self
        announce(added: object.interfaces, on: object)
    }

    /// Takes an object off the bus, and says so with `InterfacesRemoved`.
    package func remove(_ object: ExportedObject) {
        guard objects.removeValue(forKey: object.path.text) != nil else { return }
        object.flushChanges()
        object.tree = nil
        announce(removed: object.interfaces, on: object)
    }

    // MARK: Telling clients

    /// Discards the prepared reply that contains the object.
    func objectChanged(_ object: ExportedObject) {
        guard object.path != root else { return }
        preparedObjects = nil
    }

    func announce(added interfaces: [ExportedInterface], on object: ExportedObject) {
        objectChanged(object)
        // Clients are told of these values now, or ask for them.
        for interface in interfaces { _ = interface.takeChanges() }
        // Before the start, nobody has been told what is there.
        guard held == nil, object.path != root, !interfaces.isEmpty else { return }
        emit(
            .signal(root, StandardInterface.objectManager, "InterfacesAdded"), object.path,
            OrderedEntries(interfaces.map { ($0.name.text, $0.allValues) }))
    }

    func announce(removed interfaces: [ExportedInterface], on object: ExportedObject) {
        objectChanged(object)
        guard object.path != root, !interfaces.isEmpty else { return }
        emit(
            .signal(root, StandardInterface.objectManager, "InterfacesRemoved"), object.path,
            interfaces.map(\.name.text))
    }

    func emit<each Argument: BusType>(_ header: MessageHeader, _ arguments: repeat each Argument) {
        // Only a string with a NUL cannot be sent, and nothing that reaches us can hold one.
        guard let signal = try? BusMessage(header, repeat each arguments) else { return }
        connection.send(signal)
    }

    /// Returns the reply to `GetManagedObjects`: every object below the root.
    ///
    /// It is marshalled again only after a change of an object, which ``ExportedObject/noteChange()`` reports, unless
    /// an object has properties whose changes are not announced.
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
        if !objects.contains(where: { $0.interfaces.contains(where: \.hasUnannouncedProperties) }) {
            preparedObjects = reply
        }
        return reply
    }

    /// Discards what only makes the next reply faster.
    package func releaseMemory() {
        preparedObjects = nil
    }

    /// The next path elements of the objects below `path`, sorted.
    func children(of path: ObjectPath) -> [String] {
        Set(objects.values.compactMap { $0.path.elements(below: path)?.first.map(String.init) })
            .sorted()
    }

    // MARK: Answering calls

    private func receive(_ call: BusMessage) {
        guard held == nil else { return hold(call) }
        let address = ReplyAddress(call)
        do {
            switch try invoke(call) {
            case .finished(let answer): try send(answer, to: address)
            case .running(let work): run(work, for: address)
            }
        } catch {
            send(error, to: address)
        }
    }

    private func hold(_ call: BusMessage) {
        // libdbus stops reading at a number of received descriptors, and the start waits for replies.
        if call.carriesDescriptors {
            guard heldWithDescriptors < Self.maximumHeldWithDescriptors else {
                return send(RunningCalls.exceeded, to: ReplyAddress(call))
            }
        }
        guard running.begin(call.sender) else {
            return send(RunningCalls.exceeded, to: ReplyAddress(call))
        }
        if call.carriesDescriptors { heldWithDescriptors += 1 }
        held?.append(call)
    }

    private func invoke(_ call: BusMessage) throws -> Invocation {
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
            throw ErrorReply(.unknownObject, "There is no object \(path.text.excerpt).")
        }
        let interface = call.interface
        var isKnown = interface == nil
        for candidate in object.interfaces where interface == nil || candidate.name == interface {
            isKnown = true
            if let method = candidate.method(member) { return try candidate.invoke(method, call) }
        }
        for candidate in StandardInterface.declarations(for: object, root: root)
        where interface == nil || candidate.name == interface {
            isKnown = true
            if let method = candidate.methods.first(where: { $0.name == member }) {
                return try method.invoke(object, call)
            }
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

    /// A path between the objects, which can only be introspected.
    private func node(_ path: ObjectPath) -> ExportedObject? {
        guard !children(of: path).isEmpty || path == .root else { return nil }
        let node = ExportedObject(path)
        node.tree = self
        return node
    }

    private func run(
        _ work: @escaping @MainActor () async throws -> ReplySender, for call: ReplyAddress
    ) {
        guard running.begin(call.caller) else { return send(RunningCalls.exceeded, to: call) }
        // At once, so that calls begin in the order in which they came.
        Task.immediate {
            do {
                try send(await work(), to: call)
            } catch {
                send(error, to: call)
            }
            running.end(call.caller)
        }
    }

    private func send(_ answer: ReplySender, to call: ReplyAddress) throws {
        if call.expectsReply { try answer(connection, call) }
    }

    private func send(_ error: any Error, to call: ReplyAddress) {
        guard call.expectsReply else { return }
        let reply = named(error)
        // A message that cannot be sent must not leave the caller waiting.
        let message =
            (try? BusMessage(.error(reply.name, to: call), reply.message))
            ?? (try? BusMessage(.error(reply.name, to: call), "The error cannot be told."))
        if let message { connection.send(message) }
    }

    private func named(_ error: any Error) -> ErrorReply {
        switch error {
        case let reply as ErrorReply: reply
        case BusError.tooLarge:
            ErrorReply(.limitsExceeded, "The answer is larger than the bus allows; ask for less.")
        case BusError.invalidValue(let text):
            ErrorReply(.failed, "The answer cannot be sent: \(text).")
        default: errorReply(error)
        }
    }
}

/// Objects, their interfaces, their properties: `a{oa{sa{sv}}}`.
typealias ManagedObjects = OrderedEntries<
    ObjectPath, OrderedEntries<String, OrderedEntries<String, AnyVariant>>
>

/// How many calls of each client are being worked on.
nonisolated struct RunningCalls {
    /// More than any honest client has at a time.
    static let limit = 1000

    static let exceeded = ErrorReply(
        .limitsExceeded, "\(limit) calls of this client are still running; wait for some.")

    private var counts: [BusName?: Int] = [:]

    /// - Returns: Whether the client may have one more.
    mutating func begin(_ client: BusName?) -> Bool {
        guard counts[client, default: 0] < Self.limit else { return false }
        counts[client, default: 0] += 1
        return true
    }

    mutating func end(_ client: BusName?) {
        guard let count = counts[client] else { return }
        counts[client] = count > 1 ? count - 1 : nil
    }
}
