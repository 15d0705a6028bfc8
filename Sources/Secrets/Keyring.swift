internal import CSecret
internal import Web

/// A session with the Secret Service, for one thread and one operation.
///
/// Source: freedesktop Secret Service API, draft 0.2.
final class Keyring {
    let limits: KeyringLimits
    private let functions: shim_secret
    // The order of the properties matters: the loop is released last, and frees the remaining objects of the service.
    private let service: GObjectReference
    /// The connection that libsecret uses. It is closed with its last reference.
    let bus: GObjectReference
    private let loop: CallLoop
    /// Called before and after a prompt, which may take minutes.
    var promptChanged: (_ isShown: Bool) -> Void = { _ in }

    /// Opens a session with the Secret Service on the session bus, which the bus starts if necessary.
    ///
    /// - Parameters:
    ///   - functions: The functions of libsecret and GLib.
    ///   - limits: The time limits of the calls.
    ///   - cancellation: Ends the calls early.
    /// - Throws: ``KeyringFailure``.
    init(
        _ functions: shim_secret, _ limits: KeyringLimits,
        _ cancellation: CallCancellation = CallCancellation()
    ) throws {
        let loop = CallLoop(functions, limits, cancellation)
        self.functions = functions
        self.loop = loop
        self.limits = limits
        let bus = GObjectReference(try Self.connect(loop, functions), functions)
        self.bus = bus
        // By default, GLib ends the process when the bus disconnects.
        functions.g_dbus_connection_set_exit_on_close(bus.pointer, 0)
        loop.watchPrompts(on: bus)
        // The shared instance of libsecret is not used: it does not detect that another service acquired the name.
        let service = try loop.call {
            functions.secret_service_open(
                functions.secret_service_get_type(), nil,
                UInt32(SHIM_SECRET_SERVICE_OPEN_SESSION), $0, $1, $2)
        } finish: {
            functions.secret_service_open_finish($0, $1)
        }
        guard let service else { throw KeyringFailure.noReply }
        self.service = GObjectReference(service, functions)
    }

    /// Closes the session. The keyring would otherwise keep it as long as the connection, which may outlive this
    /// object.
    deinit {
        guard let session = functions.secret_service_get_session_dbus_path(service.pointer) else {
            return
        }
        send("Close", to: session, "org.freedesktop.Secret.Session")
    }

    /// Calls a method without arguments and does not wait for the reply.
    private func send(_ method: String, to path: UnsafePointer<CChar>, _ interface: String) {
        functions.g_dbus_connection_call(
            bus.pointer, Self.name, path, interface, method, nil, nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, nil, nil, nil)
    }

    private static let name = "org.freedesktop.secrets"

    /// Returns the connection to the session bus that libsecret will use.
    private static func connect(
        _ loop: CallLoop, _ functions: shim_secret
    ) throws -> OpaquePointer {
        do {
            let bus = try loop.call {
                functions.g_bus_get(G_BUS_TYPE_SESSION, $0, $1, $2)
            } finish: {
                functions.g_bus_get_finish($0, $1)
            }
            if let bus { return bus }
        } catch KeyringFailure.refused(let reason) {
            throw KeyringFailure.noBus(reason)
        }
        throw KeyringFailure.noReply
    }

    /// Sets the total time limit of the calls that follow.
    func setTimeLimit(_ duration: Duration) { loop.setTimeLimit(duration) }

    // MARK: Items

    /// Returns all items of a key, including locked ones, the most recently changed first.
    func items(_ key: SecretKey) throws -> [KeyringItem] {
        try functions.withAttributes(key.attributes) { attributes in
            let list = try loop.call {
                functions.secret_service_search(
                    service.pointer, nil, attributes, UInt32(SHIM_SECRET_SEARCH_ALL), $0, $1, $2
                )
            } finish: {
                functions.secret_service_search_finish(service.pointer, $0, $1)
            }
            return pointers(list).map { KeyringItem(GObjectReference($0, functions), functions) }
                .sorted { $0.modified > $1.modified }
        }
    }

    /// Returns the secret of an unlocked item; nil if the item was deleted meanwhile.
    func secret(of item: KeyringItem) throws -> Secret? {
        _ = try loop.call {
            functions.secret_item_load_secret(item.object.pointer, $0, $1, $2)
        } finish: {
            functions.secret_item_load_secret_finish(item.object.pointer, $0, $1)
        }
        guard let value = functions.secret_item_get_secret(item.object.pointer) else { return nil }
        defer { functions.secret_value_unref(UnsafeMutableRawPointer(value)) }
        var count: gsize = 0
        let bytes = functions.secret_value_get(value, &count)
        return Secret(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    /// Creates the item of a key, or changes the existing one in the collection.
    ///
    /// `secret_item_create` is not used: it never completes if the keyring requires a confirmation and the user
    /// refuses.
    ///
    /// - Returns: The path of the item; nil if the user refused.
    func create(
        _ secret: Secret, _ key: SecretKey, label: String, in collection: KeyringCollection
    ) throws -> String? {
        let value = functions.makeValue(secret)
        guard let value else { throw KeyringFailure.refused("no memory") }
        defer { functions.secret_value_unref(UnsafeMutableRawPointer(value)) }
        return try functions.withProperties([
            ("org.freedesktop.Secret.Item.Label", functions.makeString(label)),
            ("org.freedesktop.Secret.Item.Attributes", functions.makeDictionary(key.attributes)),
        ]) { properties in
            take(
                try loop.promptingCall {
                    functions.secret_service_create_item_dbus_path(
                        service.pointer, collection.path, properties, value,
                        UInt32(SHIM_SECRET_ITEM_CREATE_REPLACE), $0, $1, $2)
                } finish: {
                    functions.secret_service_create_item_dbus_path_finish(service.pointer, $0, $1)
                } ?? nil)
        }
    }

    /// Deletes an item. Prompts if the keyring requires a confirmation.
    ///
    /// - Returns: True if the keyring reports the deletion, false if the prompt was dismissed.
    func delete(_ item: KeyringItem) throws -> Bool {
        let result = try loop.promptingCall {
            functions.secret_item_delete(item.object.pointer, $0, $1, $2)
        } finish: {
            functions.secret_item_delete_finish(item.object.pointer, $0, $1)
        }
        return result.map { $0 != 0 } ?? false
    }

    /// Deletes an item if the keyring does not require a prompt for it.
    func deleteSilently(_ item: KeyringItem) throws {
        let reply = try loop.call {
            functions.g_dbus_connection_call(
                bus.pointer, Self.name, item.path, "org.freedesktop.Secret.Item", "Delete", nil,
                nil, G_DBUS_CALL_FLAGS_NO_AUTO_START, -1, $0, $1, $2)
        } finish: {
            functions.g_dbus_connection_call_finish(bus.pointer, $0, $1)
        }
        guard let reply, let child = functions.g_variant_get_child_value(reply, 0) else { return }
        defer {
            functions.g_variant_unref(child)
            functions.g_variant_unref(reply)
        }
        guard let prompt = functions.g_variant_get_string(child, nil),
            String(cString: prompt) != "/"
        else { return }
        send("Dismiss", to: prompt, "org.freedesktop.Secret.Prompt")
    }

    // MARK: Collections

    /// Returns the collection for new items; nil if there is none.
    func defaultCollection() throws -> KeyringCollection? {
        let collection = try loop.call {
            functions.secret_collection_for_alias(
                service.pointer, "default", UInt32(SHIM_SECRET_COLLECTION_NONE), $0, $1, $2)
        } finish: {
            functions.secret_collection_for_alias_finish($0, $1)
        }
        return collection.map { KeyringCollection(GObjectReference($0, functions), functions) }
    }

    /// Returns all collections.
    func collections() throws -> [KeyringCollection] {
        _ = try loop.call {
            functions.secret_service_load_collections(service.pointer, $0, $1, $2)
        } finish: {
            functions.secret_service_load_collections_finish(service.pointer, $0, $1)
        }
        return pointers(functions.secret_service_get_collections(service.pointer)).map {
            KeyringCollection(GObjectReference($0, functions), functions)
        }
    }

    /// Creates a default collection. Prompts for its password.
    ///
    /// `secret_collection_create` is not used: it never completes if the prompt is dismissed.
    ///
    /// - Returns: True if the user completed the prompt.
    func createDefaultCollection() throws -> Bool {
        beginPrompt()
        defer { endPrompt() }
        return try functions.withProperties([
            ("org.freedesktop.Secret.Collection.Label", functions.makeString("Default keyring"))
        ]) { properties in
            take(
                try loop.promptingCall {
                    functions.secret_service_create_collection_dbus_path(
                        service.pointer, properties, "default",
                        UInt32(SHIM_SECRET_COLLECTION_CREATE_NONE), $0, $1, $2)
                } finish: {
                    functions.secret_service_create_collection_dbus_path_finish(
                        service.pointer, $0, $1)
                } ?? nil) != nil
        }
    }

    /// Unlocks collections or items. Prompts if necessary.
    ///
    /// - Returns: True if at least one of them was unlocked. A missing prompt is treated as a dismissed one.
    func unlock(_ objects: [GObjectReference]) throws -> Bool {
        var list: UnsafeMutablePointer<GList>?
        for object in objects {
            list = functions.g_list_append(list, UnsafeMutableRawPointer(object.pointer))
        }
        defer { functions.g_list_free(list) }
        beginPrompt()
        defer { endPrompt() }
        let count = try loop.promptingCall {
            functions.secret_service_unlock(service.pointer, list, $0, $1, $2)
        } finish: {
            functions.secret_service_unlock_finish(service.pointer, $0, nil, $1)
        }
        return count ?? 0 > 0
    }

    private func beginPrompt() {
        setTimeLimit(limits.prompting)
        promptChanged(true)
    }

    private func endPrompt() {
        setTimeLimit(limits.reading)
        promptChanged(false)
    }

    // MARK: Results

    /// Returns the references in a list and frees the list.
    private func pointers(_ list: UnsafeMutablePointer<GList>?) -> [OpaquePointer] {
        defer { functions.g_list_free(list) }
        var pointers: [OpaquePointer] = []
        var node = list
        while let current = node {
            if let data = current.pointee.data { pointers.append(OpaquePointer(data)) }
            node = current.pointee.next
        }
        return pointers
    }

    /// Returns the path of a new object; nil for none, which is "/" after a dismissed prompt.
    private func take(_ text: UnsafeMutablePointer<CChar>?) -> String? {
        defer { functions.g_free(text) }
        return text.map { String(cString: $0) }.flatMap { $0 == "/" ? nil : $0 }
    }
}
