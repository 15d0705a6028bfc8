internal import CDBus

/// The header of a message to be sent.
nonisolated package struct MessageHeader: Sendable {
    var kind: BusMessage.Kind
    var destination: BusName?
    var path: ObjectPath?
    var interface: InterfaceName?
    var member: MemberName?
    var errorName: ErrorName?
    var replySerial: UInt32?
    var expectsReply = false

    /// Creates the header of a method call.
    package static func methodCall(
        _ destination: BusName, _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName
    ) -> MessageHeader {
        MessageHeader(
            kind: .methodCall, destination: destination, path: path, interface: interface,
            member: member, expectsReply: true)
    }

    /// Creates the header of a signal: broadcast, or unicast to `destination`.
    package static func signal(
        _ path: ObjectPath, _ interface: InterfaceName, _ member: MemberName,
        to destination: BusName? = nil
    ) -> MessageHeader {
        MessageHeader(
            kind: .signal, destination: destination, path: path, interface: interface,
            member: member)
    }
}

/// The part of a call that is retained until the reply. The values are not retained: they may be 128 MiB, and libdbus
/// stops reading when the retained messages exceed a limit.
nonisolated struct ReplyAddress: Sendable {
    let caller: BusName?
    let serial: UInt32
    let expectsReply: Bool

    init(_ call: BusMessage) {
        caller = call.sender
        serial = call.serial
        expectsReply = call.expectsReply
    }
}

nonisolated extension BusMessage {
    /// Marshals a message.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` if a value has no D-Bus form, ``BusError/tooLarge`` if the message
    ///   exceeds 128 MiB.
    package convenience init<each Value: BusType>(
        _ header: MessageHeader, _ values: repeat each Value
    ) throws(BusError) {
        let signature = Signature(unchecked: signatureText(repeat (each Value).self))
        var builder = MessageBuilder(header, signature)
        for value in repeat each values { try value.encode(into: &builder.encoder) }
        let bytes = builder.encoder.count
        self.init(owning: try builder.finish(), marshalledBytes: bytes)
    }
}

/// A builder that marshals header and body into one buffer and creates a libdbus message from it.
nonisolated struct MessageBuilder {
    private let header: MessageHeader
    private let bodyOffset: Int
    var encoder: Encoder

    init(_ header: MessageHeader, _ signature: Signature) {
        self.header = header
        encoder = Encoder()
        #if _endian(little)
            encoder.append(UInt8(ascii: "l"))
        #else
            encoder.append(UInt8(ascii: "B"))
        #endif
        encoder.append(header.kind.rawValue)
        encoder.append(UInt8(header.expectsReply ? 0 : DBUS_HEADER_FLAG_NO_REPLY_EXPECTED))
        encoder.append(UInt8(DBUS_MAJOR_PROTOCOL_VERSION))
        encoder.append(0 as UInt32)
        // Any serial except 0 is valid here: the copy that is sent gets its own.
        encoder.append(1 as UInt32)
        encoder.append(0 as UInt32)
        encoder.field(DBUS_HEADER_FIELD_PATH, "o", header.path?.text)
        encoder.field(DBUS_HEADER_FIELD_INTERFACE, "s", header.interface?.text)
        encoder.field(DBUS_HEADER_FIELD_MEMBER, "s", header.member?.text)
        encoder.field(DBUS_HEADER_FIELD_ERROR_NAME, "s", header.errorName?.text)
        encoder.field(DBUS_HEADER_FIELD_DESTINATION, "s", header.destination?.text)
        if let replySerial = header.replySerial {
            encoder.beginField(DBUS_HEADER_FIELD_REPLY_SERIAL, "u")
            encoder.append(replySerial)
        }
        if !signature.text.isEmpty {
            encoder.beginField(DBUS_HEADER_FIELD_SIGNATURE, "g")
            encoder.append(signature: signature)
        }
        encoder.patch(UInt32(encoder.count - 16), at: 12)
        encoder.align(to: 8)
        bodyOffset = encoder.count
    }

    consuming func finish() throws(BusError) -> OpaquePointer {
        if let failure = encoder.failure { throw failure }
        guard encoder.count <= Encoder.maximumMessageBytes else { throw .tooLarge }
        encoder.patch(UInt32(encoder.count - bodyOffset), at: 4)
        let raw = try demarshal()
        guard !encoder.descriptors.isEmpty else { return raw }
        defer { dbus_message_unref(raw) }
        let message = try MessageBuilder(header, "").finish()
        // libdbus has validated the values, so appending them cannot abort the process.
        guard Self.fill(message, from: raw, encoder.descriptors) else {
            dbus_message_unref(message)
            throw .invalidValue("a file descriptor could not be attached")
        }
        return message
    }

    private func demarshal() throws(BusError) -> OpaquePointer {
        do {
            return try withBusError { error in
                encoder.bytes.withUnsafeBytes {
                    dbus_message_demarshal(
                        $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), error)
                }
            }
        } catch .reply(let reply) {
            throw .invalidValue(reply.message)
        }
    }
}

nonisolated extension Encoder {
    fileprivate mutating func beginField(_ code: Int32, _ type: Signature) {
        align(to: 8)
        append(UInt8(code))
        append(signature: type)
    }

    fileprivate mutating func field(_ code: Int32, _ type: Signature, _ text: String?) {
        guard let text else { return }
        beginField(code, type)
        // The types of the names guarantee that they contain no NUL.
        try? append(string: text)
    }
}

/// Calls a function of libdbus that reports failure by returning NULL and setting a `DBusError`.
nonisolated func withBusError<Value>(
    _ body: (UnsafeMutablePointer<CDBus.DBusError>) -> Value?
) throws(BusError) -> Value {
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    if let value = body(&error) { return value }
    guard let name = error.name else { throw .invalidValue("out of memory") }
    let message = error.message.map { String(cString: $0) } ?? ""
    throw .reply(ErrorReply(ErrorName(unchecked: String(cString: name)), message))
}
