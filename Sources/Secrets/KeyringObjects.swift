internal import CSecret

/// One reference to an object of the service.
final class Held {
    let pointer: OpaquePointer
    private let functions: shim_secret

    /// Takes over a reference.
    init(_ pointer: OpaquePointer, _ functions: shim_secret) {
        self.pointer = pointer
        self.functions = functions
    }

    deinit { functions.g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// Names it on the bus.
    var path: String {
        functions.g_dbus_proxy_get_object_path(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GDBusProxy.self)
        ).map { String(cString: $0) } ?? ""
    }
}

/// An item as it was when it was found.
struct KeyringItem {
    let held: Held
    let isLocked: Bool
    let modified: UInt64
    var path: String { held.path }

    init(_ held: Held, _ functions: shim_secret) {
        self.held = held
        isLocked = functions.secret_item_get_locked(held.pointer) != 0
        modified = UInt64(functions.secret_item_get_modified(held.pointer))
    }
}

/// A collection as it was when it was found.
struct KeyringCollection {
    let held: Held
    let isLocked: Bool
    var path: String { held.path }

    init(_ held: Held, _ functions: shim_secret) {
        self.held = held
        isLocked = functions.secret_collection_get_locked(held.pointer) != 0
    }

    /// Returns true if the path of an item is below that of the collection.
    func contains(_ item: KeyringItem) -> Bool { item.path.hasPrefix("\(path)/") }
}
