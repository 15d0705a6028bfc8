/// The results of a method, marshalled once and sent to any number of callers.
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
}
