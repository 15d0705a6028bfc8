/// An object on the bus: its interfaces, which may come and go.
///
/// Enters the bus with ``ObjectTree/export(_:)`` and leaves it with ``ObjectTree/remove(_:)``.
package final class ExportedObject {
    package let path: ObjectPath
    /// The tree it is in, while it is on the bus.
    weak var tree: ObjectTree?
    private(set) var interfaces: [ExportedInterface] = []
    private var isFlushScheduled = false

    package init(_ path: ObjectPath) { self.path = path }

    /// Adds an interface, whose handlers are called on `object`, and says so with
    /// `InterfacesAdded`.
    package func add<Object: AnyObject>(_ declaration: BusInterface<Object>, on object: Object) {
        let interface = ExportedInterface(declaration, on: object)
        interfaces.append(interface)
        tree?.announce(added: [interface], on: self)
    }

    /// Takes interfaces away, and says so with `InterfacesRemoved`.
    package func remove(_ names: [InterfaceName]) {
        let removed = interfaces.filter { names.contains($0.name) }
        interfaces.removeAll { names.contains($0.name) }
        if !removed.isEmpty { tree?.announce(removed: removed, on: self) }
    }

    package func has(_ name: InterfaceName) -> Bool { interfaces.contains { $0.name == name } }

    /// Sends a signal that one of the interfaces declares.
    package func emit<each Argument: BusType>(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each Argument
    ) {
        tree?.emit(.signal(path, interface, member), repeat each arguments)
    }

    /// Tells clients of every property whose value is another than they know.
    ///
    /// Soon, not now: changes that come in one burst go out in one signal.
    package func noteChange() {
        tree?.objectChanged(self)
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        Task { flushChanges() }
    }

    /// Tells clients of changed properties at once.
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
