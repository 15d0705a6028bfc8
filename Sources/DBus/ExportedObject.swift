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
                StandardInterface.properties, "PropertiesChanged", interface.name.text, changes,
                [String]())
        }
    }
}
