internal import CDBus
internal import Dispatch

/// A D-Bus message: a method call, a method return, an error or a signal.
///
/// Immutable after `init`, so it can be read and released on any thread.
nonisolated package final class BusMessage: @unchecked Sendable {
    /// The type of a message. Source: D-Bus specification, "Message Format".
    package enum Kind: UInt8, Sendable {
        case methodCall = 1
        case methodReturn
        case error
        case signal
    }

    /// The key that identifies the main queue.
    private static let mainQueueKey: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    private let raw: OpaquePointer
    /// True if libdbus counts the message among the received ones. Releasing it may make libdbus resume reading, which
    /// it reports to the connection synchronously; it is therefore released on the main queue.
    private let isReceived: Bool
    /// The size of a message that this process marshalled, in bytes; 0 for other messages.
    let marshalledBytes: Int

    /// Takes ownership of one reference to a message that this process created or received.
    init(owning raw: OpaquePointer, isReceived: Bool = false, marshalledBytes: Int = 0) {
        self.raw = raw
        self.isReceived = isReceived
        self.marshalledBytes = marshalledBytes
    }

    deinit {
        guard isReceived, DispatchQueue.getSpecific(key: Self.mainQueueKey) == nil else {
            return dbus_message_unref(raw)
        }
        nonisolated(unsafe) let raw = raw
        DispatchQueue.main.async { dbus_message_unref(raw) }
    }

    func withRawMessage<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(raw) }

    /// The type of the message; nil for an unknown type. Such messages must be ignored.
    package var kind: Kind? {
        Kind(rawValue: UInt8(truncatingIfNeeded: dbus_message_get_type(raw)))
    }
    package var serial: UInt32 { dbus_message_get_serial(raw) }
    /// True if the sender of a call expects a reply.
    package var expectsReply: Bool { dbus_message_get_no_reply(raw) == 0 }
    /// True if the message carries file descriptors. They are closed with it.
    var carriesDescriptors: Bool { dbus_message_contains_unix_fds(raw) != 0 }
    package var path: ObjectPath? { name(dbus_message_get_path) }
    package var interface: InterfaceName? { name(dbus_message_get_interface) }
    package var member: MemberName? { name(dbus_message_get_member) }
    /// The unique name of the sender, which the bus sets; nil for a message that has not been sent.
    package var sender: BusName? { name(dbus_message_get_sender) }
    var destination: BusName? { name(dbus_message_get_destination) }
    /// The serial of the call to which this message is the reply.
    var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
    package var errorName: ErrorName? { name(dbus_message_get_error_name) }
    package var signature: Signature {
        name(dbus_message_get_signature) ?? Signature(unchecked: "")
    }

    /// Compares the strings among the arguments with a limit.
    ///
    /// - Parameter maximumBytes: The limit.
    /// - Returns: True if a string is longer than the limit.
    func holdsText(longerThan maximumBytes: Int) -> Bool {
        var decoder = Decoder(self)
        while !decoder.isAtEnd {
            if decoder.holdsText(longerThan: maximumBytes) { return true }
            decoder.next()
        }
        return false
    }

    /// Reads all values of the message, which must have exactly these types.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` if the types or their number differ.
    package func read<each Value: BusType>() throws(BusError) -> (repeat each Value) {
        let expected = signatureText(repeat (each Value).self)
        guard signature.text == expected else {
            throw .invalidValue("expected (\(expected)), found (\(signature))")
        }
        var decoder = Decoder(self)
        return (repeat try (each Value)(from: &decoder))
    }

    /// The values of the message; nil if they cannot be read.
    package var values: [Variant]? {
        var decoder = Decoder(self)
        var values: [Variant] = []
        while !decoder.isAtEnd {
            guard let value = try? decoder.anyValue() else { return nil }
            values.append(value)
        }
        return values
    }

    /// The error in this message; nil if it is not an error reply.
    package var errorReply: ErrorReply? {
        guard kind == .error, let errorName else { return nil }
        var decoder = Decoder(self)
        return ErrorReply(errorName, (try? decoder.string("s")) ?? errorName.text)
    }

    /// Returns a field of the header, which libdbus has validated.
    private func name<Name: BusGrammar>(
        _ field: (OpaquePointer) -> UnsafePointer<CChar>?
    ) -> Name? {
        field(raw).map { Name(unchecked: String(cString: $0)) }
    }
}

/// Returns the signature of a sequence of types.
nonisolated func signatureText<each Value: BusType>(_ types: repeat (each Value).Type) -> String {
    var text = ""
    for type in repeat each types { text += type.signature.text }
    return text
}

/// The results of a method, which can be sent to any number of callers.
///
/// Marshalling a page of photos takes ten times as long as copying it.
nonisolated package struct PreparedReply: Sendable {
    let template: BusMessage
    /// The size of the message, in bytes.
    package var bytes: Int { template.marshalledBytes }

    /// Marshals the results.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` and ``BusError/tooLarge``.
    package init<each Value: BusType>(_ values: repeat each Value) throws(BusError) {
        // Each copy gets the serial of its call. The header needs some serial to be valid.
        template = try BusMessage(
            MessageHeader(kind: .methodReturn, replySerial: 1), repeat each values)
    }

    /// Marshals an error.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` and ``BusError/tooLarge``.
    init(_ error: ErrorReply) throws(BusError) {
        template = try BusMessage(
            MessageHeader(kind: .error, errorName: error.name, replySerial: 1), error.message)
    }
}
