internal import CSecret
internal import Web

/// A factory of the arguments of libsecret functions.
struct KeyringValues {
    private let functions: shim_secret

    init(_ functions: shim_secret) { self.functions = functions }

    /// Returns a value that stores a secret in memory that is not swapped. The caller releases it.
    ///
    /// The content type of text is text: KeePassXC stores text as a password, and other content as an attachment.
    func secret(_ secret: Secret) -> OpaquePointer? {
        secret.withBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            let isText = start.map { functions.g_utf8_validate($0, bytes.count, nil) != 0 } ?? true
            return functions.secret_value_new(
                start, bytes.count, isText ? "text/plain" : "application/octet-stream")
        }
    }

    /// Returns a floating variant of type `s`.
    func string(_ text: String) -> OpaquePointer? { functions.g_variant_new_string(text) }

    /// Returns a floating variant of type `a{ss}`. `entries` must not be empty.
    func dictionary(_ entries: [(String, String)]) -> OpaquePointer? {
        let children = entries.map { name, value in
            functions.g_variant_new_dict_entry(string(name), string(value))
        }
        return functions.g_variant_new_array(nil, children, gsize(children.count))
    }

    /// Calls `body` with a table of strings.
    func withAttributes<Value>(
        _ attributes: [(String, String)], _ body: (OpaquePointer?) throws -> Value
    ) rethrows -> Value {
        let texts = attributes.flatMap { [copy($0.0), copy($0.1)] }
        defer { for text in texts { text.deallocate() } }
        return try withTable { table in
            for index in stride(from: 0, to: texts.count, by: 2) {
                _ = functions.g_hash_table_insert(table, texts[index], texts[index + 1])
            }
            return try body(table)
        }
    }

    /// Calls `body` with a table of variants and takes ownership of the variants.
    func withProperties<Value>(
        _ properties: [(String, OpaquePointer?)], _ body: (OpaquePointer?) throws -> Value
    ) rethrows -> Value {
        let entries = properties.map { (copy($0.0), functions.g_variant_ref_sink($0.1)) }
        defer {
            for (name, value) in entries {
                name.deallocate()
                functions.g_variant_unref(value)
            }
        }
        return try withTable { table in
            for (name, value) in entries {
                _ = functions.g_hash_table_insert(
                    table, name, value.map(UnsafeMutableRawPointer.init))
            }
            return try body(table)
        }
    }

    private func withTable<Value>(_ body: (OpaquePointer?) throws -> Value) rethrows -> Value {
        let table = functions.g_hash_table_new(functions.g_str_hash, functions.g_str_equal)
        defer { functions.g_hash_table_unref(table) }
        return try body(table)
    }

    /// Returns a copy of the text with a terminating NUL.
    private func copy(_ text: String) -> UnsafeMutableRawPointer {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: text.utf8.count + 1, alignment: 1)
        UnsafeMutableRawBufferPointer(start: bytes, count: text.utf8.count)
            .copyBytes(from: text.utf8)
        bytes.storeBytes(of: 0, toByteOffset: text.utf8.count, as: UInt8.self)
        return bytes
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

    /// Returns true if the path of an item is below that of the collection.
    func contains(_ item: KeyringItem) -> Bool { item.path.hasPrefix("\(path)/") }
}
