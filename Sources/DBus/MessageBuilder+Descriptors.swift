internal import CDBus

/// The values of messages that carry file descriptors.
///
/// libdbus attaches descriptors only through its iterators, so the marshalled values are read again and appended one
/// by one. Such messages are small and rare.
nonisolated extension MessageBuilder {
    /// Appends the values of `source` to `message`, which has none.
    ///
    /// - Parameters:
    ///   - message: The message that will carry the descriptors.
    ///   - source: A message with the same values, but without descriptors.
    ///   - descriptors: The descriptors, in the order of the values.
    /// - Returns: False if memory or descriptors are exhausted.
    static func fill(
        _ message: OpaquePointer, from source: OpaquePointer, _ descriptors: [FileDescriptor]
    ) -> Bool {
        var values = DBusMessageIter()
        dbus_message_iter_init(source, &values)
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(message, &iterator)
        var descriptors = descriptors[...]
        return copy(&values, to: &iterator, &descriptors)
    }

    private static func copy(
        _ values: inout DBusMessageIter, to iterator: inout DBusMessageIter,
        _ descriptors: inout ArraySlice<FileDescriptor>
    ) -> Bool {
        repeat {
            let type = dbus_message_iter_get_arg_type(&values)
            let isCopied: Bool
            switch UnicodeScalar(UInt8(truncatingIfNeeded: type)) {
            // No value is left.
            case "\0": return true
            case "h":
                var descriptor = descriptors.removeFirst().rawValue
                isCopied = dbus_message_iter_append_basic(&iterator, type, &descriptor) != 0
            case "a", "v", "r", "e":
                isCopied = copyContainer(type, &values, to: &iterator, &descriptors)
            default:
                // A number of at most eight bytes, or a pointer to a string.
                var value: UInt64 = 0
                dbus_message_iter_get_basic(&values, &value)
                isCopied = dbus_message_iter_append_basic(&iterator, type, &value) != 0
            }
            guard isCopied else { return false }
        } while dbus_message_iter_next(&values) != 0
        return true
    }

    private static func copyContainer(
        _ type: Int32, _ values: inout DBusMessageIter, to iterator: inout DBusMessageIter,
        _ descriptors: inout ArraySlice<FileDescriptor>
    ) -> Bool {
        var inner = DBusMessageIter()
        dbus_message_iter_recurse(&values, &inner)
        // libdbus wants the type of the contents of arrays and variants only.
        let hasSignature = type == Int32(UInt8(ascii: "a")) || type == Int32(UInt8(ascii: "v"))
        let signature = hasSignature ? dbus_message_iter_get_signature(&inner) : nil
        defer { dbus_free(signature) }
        var contents = DBusMessageIter()
        guard dbus_message_iter_open_container(&iterator, type, signature, &contents) != 0 else {
            return false
        }
        guard copy(&inner, to: &contents, &descriptors) else {
            dbus_message_iter_abandon_container(&iterator, &contents)
            return false
        }
        return dbus_message_iter_close_container(&iterator, &contents) != 0
    }
}
