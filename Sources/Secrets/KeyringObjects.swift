internal import CSecret

/// One reference to a GObject, here a D-Bus proxy.
final class GObjectReference {
    let pointer: OpaquePointer
    private let functions: shim_secret

    /// Takes ownership of a reference.
    init(_ pointer: OpaquePointer, _ functions: shim_secret) {
        self.pointer = pointer
        self.functions = functions
    }

    deinit { functions.g_object_unref(UnsafeMutableRawPointer(pointer)) }

    /// The object path on the bus.
    var path: String {
        functions.g_dbus_proxy_get_object_path(
            UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GDBusProxy.self)
        ).map { String(cString: $0) } ?? ""
    }
}

/// The state of an item at the time of the search.
struct KeyringItem {
    let object: GObjectReference
    let isLocked: Bool
    let modified: UInt64
    var path: String { object.path }

    init(_ object: GObjectReference, _ functions: shim_secret) {
        self.object = object
        isLocked = functions.secret_item_get_locked(object.pointer) != 0
        modified = UInt64(functions.secret_item_get_modified(object.pointer))
    }
}

/// The state of a collection at the time of the call.
struct KeyringCollection {
    let object: GObjectReference
    let isLocked: Bool
    var path: String { object.path }

    init(_ object: GObjectReference, _ functions: shim_secret) {
        self.object = object
        isLocked = functions.secret_collection_get_locked(object.pointer) != 0
    }

    /// Returns true if the path of an item is below that of the collection.
    func contains(_ item: KeyringItem) -> Bool { item.path.hasPrefix("\(path)/") }
}
