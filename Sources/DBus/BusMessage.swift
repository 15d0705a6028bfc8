internal import CDBus
internal import Dispatch

/// A message of the bus: a call, its reply, an error or a signal.
///
/// Immutable once made, so it may be read and dropped on any thread.
nonisolated package final class BusMessage: @unchecked Sendable {
    package enum Kind: UInt8, Sendable {
        case methodCall = 1
        case methodReturn
        case error
        case signal
    }

    private let raw: OpaquePointer
    /// Whether it counts among those that libdbus has read for us: their end may make it read on,
    /// which it tells the connection at once, so they end on the main queue.
    private let isReceived: Bool

    /// Takes over one reference to a message of our own.
    init(owning raw: OpaquePointer) {
        self.raw = raw
        isReceived = false
    }

    /// Takes over one reference to a message that arrived.
    init(receiving raw: OpaquePointer) {
        self.raw = raw
        isReceived = true
    }

    deinit {
        guard isReceived, DispatchQueue.getSpecific(key: MainQueue.key) == nil else {
            return dbus_message_unref(raw)
        }
        nonisolated(unsafe) let raw = raw
        DispatchQueue.main.async { dbus_message_unref(raw) }
    }

    func withRawMessage<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(raw) }

    /// nil for a kind that we do not know; such messages are to be ignored.
    package var kind: Kind? {
        Kind(rawValue: UInt8(truncatingIfNeeded: dbus_message_get_type(raw)))
    }
    package var serial: UInt32 { dbus_message_get_serial(raw) }
    package var expectsReply: Bool { dbus_message_get_no_reply(raw) == 0 }
    /// True if file descriptors came with the message. They are closed with it.
    var carriesDescriptors: Bool { dbus_message_contains_unix_fds(raw) != 0 }
    package var path: ObjectPath? { text(dbus_message_get_path).map(ObjectPath.init(unchecked:)) }
    package var interface: InterfaceName? {
        text(dbus_message_get_interface).map(InterfaceName.init(unchecked:))
    }
    package var member: MemberName? {
        text(dbus_message_get_member).map(MemberName.init(unchecked:))
    }
    package var sender: BusName? { text(dbus_message_get_sender).map(BusName.init(unchecked:)) }
    var destination: BusName? {
        text(dbus_message_get_destination).map(BusName.init(unchecked:))
    }
    /// The serial of the call that this message answers.
    var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }
    package var errorName: ErrorName? {
        text(dbus_message_get_error_name).map(ErrorName.init(unchecked:))
    }
    package var signature: Signature {
        Signature(unchecked: text(dbus_message_get_signature) ?? "")
    }

    /// Compares the strings among the arguments with a limit.
    ///
    /// - Parameter maximumBytes: The limit.
    /// - Returns: True if one of them is longer.
    func holdsText(longerThan maximumBytes: Int) -> Bool {
        var decoder = Decoder(self)
        while !decoder.isAtEnd {
            if decoder.holdsText(longerThan: maximumBytes) { return true }
            decoder.next()
        }
        return false
    }

    /// Reads all values of the message, which must be exactly of these types.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` for other types, or more or fewer of them.
    package func read<each Value: BusType>() throws(BusError) -> (repeat each Value) {
        let expected = signatureText(repeat (each Value).self)
        guard signature.text == expected else {
            throw .invalidValue("expected (\(expected)), found (\(signature))")
        }
        var decoder = Decoder(self)
        return (repeat try (each Value)(from: &decoder))
    }

    /// The error that this message is, if it is one.
    package var errorReply: ErrorReply? {
        guard kind == .error, let errorName else { return nil }
        var decoder = Decoder(self)
        return ErrorReply(errorName, (try? decoder.string("s")) ?? errorName.text)
    }

    private func text(_ field: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        field(raw).map { String(cString: $0) }
    }
}

/// The signature of a sequence of types.
nonisolated func signatureText<each Value: BusType>(_ types: repeat (each Value).Type) -> String {
    var text = ""
    for type in repeat each types { text += type.signature.text }
    return text
}

/// Tells the main queue from others.
nonisolated private enum MainQueue {
    static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()
}
