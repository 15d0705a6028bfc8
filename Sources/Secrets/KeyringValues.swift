internal import CSecret
internal import Glibc
internal import Web

/// The arguments of libsecret functions.
extension shim_secret {
    /// Returns a value that stores a secret in memory that is not swapped. The caller releases it.
    ///
    /// The content type of text is text: KeePassXC stores text as a password, and other content as an attachment.
    func makeValue(_ secret: Secret) -> OpaquePointer? {
        secret.withBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let isText = start.map { self.g_utf8_validate($0, bytes.count, nil) != 0 } ?? true
            return self.secret_value_new(
                start, bytes.count, isText ? "text/plain" : "application/octet-stream")
        }
    }

    /// Returns a floating variant of type `s`.
    func makeString(_ text: String) -> OpaquePointer? { self.g_variant_new_string(text) }

    /// Returns a floating variant of type `a{ss}`. `entries` must not be empty.
    func makeDictionary(_ entries: [(String, String)]) -> OpaquePointer? {
        let children = entries.map { name, value in
            self.g_variant_new_dict_entry(makeString(name), makeString(value))
        }
        return self.g_variant_new_array(nil, children, gsize(children.count))
    }

    /// Calls `body` with a table of strings.
    func withAttributes<Value>(
        _ attributes: [(String, String)], _ body: (OpaquePointer?) throws -> Value
    ) rethrows -> Value {
        let entries = attributes.map { name, value -> (String, UnsafeMutableRawPointer?) in
            (name, UnsafeMutableRawPointer(strdup(value)))
        }
        // The strings of strdup(3) are freed with free(3), which g_free calls.
        return try withTable(entries, freeingValues: self.g_free, body)
    }

    /// Calls `body` with a table of variants and takes ownership of the variants.
    func withProperties<Value>(
        _ properties: [(String, OpaquePointer?)], _ body: (OpaquePointer?) throws -> Value
    ) rethrows -> Value {
        let variants = properties.map { ($0.0, self.g_variant_ref_sink($0.1)) }
        defer { for (_, variant) in variants { self.g_variant_unref(variant) } }
        let entries = variants.map { name, variant -> (String, UnsafeMutableRawPointer?) in
            (name, UnsafeMutableRawPointer(variant))
        }
        return try withTable(entries, freeingValues: nil, body)
    }

    private func withTable<Value>(
        _ entries: [(String, UnsafeMutableRawPointer?)], freeingValues: GDestroyNotify?,
        _ body: (OpaquePointer?) throws -> Value
    ) rethrows -> Value {
        let table = self.g_hash_table_new_full(
            self.g_str_hash, self.g_str_equal, self.g_free, freeingValues)
        defer { self.g_hash_table_unref(table) }
        for (name, value) in entries { _ = self.g_hash_table_insert(table, strdup(name), value) }
        return try body(table)
    }
}

extension SecretKey {
    /// The attributes that identify the key's items. Keyring managers show the schema as the application.
    var attributes: [(String, String)] {
        let id =
            switch self {
            case .account(let id): ("account", id)
            case .provider(let id): ("provider", id)
            case .server(let name, let provider): ("server", "\(provider)@\(name)")
            case .revocation(let id): ("revocation", id)
            }
        return [("xdg:schema", "org.imagefeed.ImageFeed1"), id]
    }
}

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

    /// True if the collection ends with the session of the user.
    var isTemporary: Bool { path.hasSuffix("/collection/session") }

    /// Returns true if the path of an item is below that of the collection.
    func contains(_ item: KeyringItem) -> Bool { item.path.hasPrefix("\(path)/") }
}
