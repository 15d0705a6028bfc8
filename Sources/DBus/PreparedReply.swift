/// The results of a method, marshalled once and sent as often as somebody asks.
///
/// A page of photos costs ten times as much to marshal as to copy.
nonisolated package struct PreparedReply: Sendable {
    let template: BusMessage

    /// Marshals the results.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` and ``BusError/tooLarge``.
    package init<each Value: BusType>(_ values: repeat each Value) throws(BusError) {
        // The serial of the call is set on each copy; the marshalled header must have one.
        template = try BusMessage(
            MessageHeader(kind: .methodReturn, replySerial: 1), repeat each values)
    }
}
