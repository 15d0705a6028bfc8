/// An object on the bus with a variable set of interfaces.
///
/// ``ObjectTree/export(_:)`` adds it to the bus and ``ObjectTree/remove(_:)`` removes it.
package final class ExportedObject {
    package let path: ObjectPath
    /// The tree that contains the object; nil while it is not exported.
    weak var tree: ObjectTree?
    private(set) var interfaces: [ExportedInterface] = []
    private var isFlushScheduled = false

    package init(_ path: ObjectPath) { self.path = path }

    /// Adds an interface, whose handlers are called on `object`, and emits `InterfacesAdded`.
    package func add<Object: AnyObject>(_ declaration: BusInterface<Object>, on object: Object) {
        let interface = ExportedInterface(declaration, on: object)
        interfaces.append(interface)
        tree?.announce(added: [interface], on: self)
    }

    /// Removes interfaces and emits `InterfacesRemoved`.
    package func remove(_ names: [InterfaceName]) {
        let removed = interfaces.filter { names.contains($0.name) }
        interfaces.removeAll { names.contains($0.name) }
        if !removed.isEmpty { tree?.announce(removed: removed, on: self) }
    }

    package func has(_ name: InterfaceName) -> Bool { interfaces.contains { $0.name == name } }

    /// Emits a signal that one of the interfaces declares.
    package func emit<each Argument: BusType>(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each Argument
    ) {
        tree?.emit(.signal(path, interface, member), repeat each arguments)
    }

    /// Announces every property whose value has changed since its last announcement.
    ///
    /// The signal is deferred to the next turn of the main queue, so that a burst of changes results in one signal.
    package func announceChanges() {
        tree?.objectChanged(self)
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        Task { flushChanges() }
    }

    /// Announces changed properties immediately.
    package func flushChanges() {
        isFlushScheduled = false
        guard tree != nil else { return }
        for interface in interfaces {
            let changes = interface.takeChanges()
            guard !changes.entries.isEmpty else { continue }
            tree?.objectChanged(self)
            emit(
                .properties, "PropertiesChanged", interface.name.text, changes,
                [String]())
        }
    }
}

/// An interface of one object, with the type of the object erased.
final class ExportedInterface {
    let table: InterfaceTable
    let object: AnyObject
    /// The hashes of the marshalled values that were last announced, in the order of the properties.
    private var announcedHashes: [Int?]

    init<Object: AnyObject>(_ declaration: BusInterface<Object>, on object: Object) {
        table = declaration.table
        self.object = object
        announcedHashes = Array(repeating: nil, count: table.properties.count)
    }

    var name: InterfaceName { table.name }

    func value(_ property: BusProperty) -> AnyVariant { AnyVariant(property.get(object)) }

    var allValues: OrderedEntries<String, AnyVariant> {
        OrderedEntries(table.properties.map { ($0.name.text, value($0)) })
    }

    /// Returns the properties whose values differ from the announced ones, and records them as announced.
    func takeChanges() -> OrderedEntries<String, AnyVariant> {
        var changes = OrderedEntries<String, AnyVariant>()
        var encoder = Encoder()
        for (index, property) in table.properties.enumerated() where !property.isConstant {
            let value = value(property)
            guard let hash = hash(of: value, &encoder), announcedHashes[index] != hash else {
                continue
            }
            announcedHashes[index] = hash
            changes.entries.append((property.name.text, value))
        }
        return changes
    }

    /// Returns the hash of a marshalled value; nil for a value that cannot be marshalled.
    private func hash(of value: AnyVariant, _ encoder: inout Encoder) -> Int? {
        encoder.removeAll()
        guard (try? value.encode(into: &encoder)) != nil else { return nil }
        var hasher = Hasher()
        encoder.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
