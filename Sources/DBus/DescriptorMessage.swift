internal import CDBus

/// A factory of messages that carry file descriptors.
///
/// libdbus attaches descriptors only through its iterators, so the marshalled values are read again and appended one
/// by one. Such messages are small and rare.
nonisolated enum DescriptorMessage {
    static func make(
        _ header: MessageHeader, _ signature: Signature, _ encoder: Encoder, bodyOffset: Int
    ) throws(BusError) -> OpaquePointer {
        guard let raw = dbus_message_new(Int32(header.kind.rawValue)) else {
            throw .invalidValue("out of memory")
        }
        dbus_message_set_no_reply(raw, header.expectsReply ? 0 : 1)
        // These functions require valid names. The types of the names guarantee that.
        if let path = header.path { dbus_message_set_path(raw, path.text) }
        if let interface = header.interface { dbus_message_set_interface(raw, interface.text) }
        if let member = header.member { dbus_message_set_member(raw, member.text) }
        if let errorName = header.errorName { dbus_message_set_error_name(raw, errorName.text) }
        if let destination = header.destination {
            dbus_message_set_destination(raw, destination.text)
        }
        if let replySerial = header.replySerial { dbus_message_set_reply_serial(raw, replySerial) }
        var iterator = DBusMessageIter()
        dbus_message_iter_init_append(raw, &iterator)
        let isComplete = encoder.bytes.withUnsafeBytes { bytes in
            var reader = Reader(bytes: bytes, offset: bodyOffset, descriptors: encoder.descriptors)
            return signature.completeTypes.allSatisfy { reader.move($0, to: &iterator) }
        }
        guard isComplete else {
            dbus_message_unref(raw)
            throw .invalidValue("a file descriptor could not be attached")
        }
        return raw
    }

    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset: Int
        let descriptors: [FileDescriptor]

        /// Appends the next value, of the complete type `type`, to `iterator`.
        ///
        /// - Returns: False if memory or descriptors are exhausted.
        mutating func move(_ type: Signature, to iterator: inout DBusMessageIter) -> Bool {
            let code = type.text.utf8.first ?? 0
            let inner = Signature(unchecked: String(type.text.dropFirst()))
            switch code {
            case UInt8(ascii: "h"):
                var descriptor = descriptors[Int(take(UInt32.self))].rawValue
                return dbus_message_iter_append_basic(&iterator, Int32(code), &descriptor) != 0
            case UInt8(ascii: "s"), UInt8(ascii: "o"):
                return moveText(Int(take(UInt32.self)), code, to: &iterator)
            case UInt8(ascii: "g"):
                return moveText(Int(take(UInt8.self)), code, to: &iterator)
            case UInt8(ascii: "v"):
                let start = offset
                let count = Int(take(UInt8.self))
                let text = String(decoding: bytes[(start + 1)..<(start + 1 + count)], as: UTF8.self)
                offset = start + count + 2
                return moveContents(of: "v", holding: text, to: &iterator) { reader, contents in
                    reader.move(Signature(unchecked: text), to: &contents)
                }
            case UInt8(ascii: "a"):
                let count = Int(take(UInt32.self))
                align(to: inner.firstAlignment)
                let end = offset + count
                return moveContents(of: "a", holding: inner.text, to: &iterator) {
                    reader, contents in
                    while reader.offset < end {
                        guard reader.move(inner, to: &contents) else { return false }
                    }
                    return true
                }
            case UInt8(ascii: "("), UInt8(ascii: "{"):
                align(to: 8)
                let fields = Signature(unchecked: String(inner.text.dropLast())).completeTypes
                let kind: UnicodeScalar = code == UInt8(ascii: "{") ? "e" : "r"
                return moveContents(of: kind, holding: nil, to: &iterator) { reader, contents in
                    fields.allSatisfy { reader.move($0, to: &contents) }
                }
            default:
                let size = code == UInt8(ascii: "y") ? 1 : type.firstAlignment
                align(to: size)
                defer { offset += size }
                let value = bytes.baseAddress?.advanced(by: offset)
                return dbus_message_iter_append_basic(&iterator, Int32(code), value) != 0
            }
        }

        private mutating func moveText(
            _ count: Int, _ code: UInt8, to iterator: inout DBusMessageIter
        ) -> Bool {
            var text = bytes.baseAddress?.advanced(by: offset)
            offset += count + 1
            return dbus_message_iter_append_basic(&iterator, Int32(code), &text) != 0
        }

        private mutating func moveContents(
            of kind: UnicodeScalar, holding signature: String?, to iterator: inout DBusMessageIter,
            _ body: (inout Reader, inout DBusMessageIter) -> Bool
        ) -> Bool {
            var contents = DBusMessageIter()
            guard
                dbus_message_iter_open_container(
                    &iterator, Int32(kind.value), signature, &contents) != 0
            else { return false }
            guard body(&self, &contents) else {
                dbus_message_iter_abandon_container(&iterator, &contents)
                return false
            }
            return dbus_message_iter_close_container(&iterator, &contents) != 0
        }

        private mutating func take<Value: FixedWidthInteger & BitwiseCopyable>(
            _ type: Value.Type
        ) -> Value {
            align(to: MemoryLayout<Value>.size)
            defer { offset += MemoryLayout<Value>.size }
            return bytes.load(fromByteOffset: offset, as: type)
        }

        private mutating func align(to alignment: Int) { offset += -offset & (alignment - 1) }
    }
}
