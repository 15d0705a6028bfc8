internal import Glibc

/// Marshals values in the byte order of this machine.
///
/// Our own marshalling instead of libdbus's iterators: those take about ten times as long for a
/// page of photos and end the program on a value they do not like. The bytes go through
/// `dbus_message_demarshal`, which checks them all and answers with an error.
///
/// Source: D-Bus specification, "Marshalling (Wire Format)".
nonisolated package struct Encoder {
    /// The largest array that D-Bus allows: 64 MiB.
    package static let maximumArrayBytes = 1 << 26
    /// The largest message that D-Bus allows: 128 MiB.
    package static let maximumMessageBytes = 1 << 27

    private(set) var bytes: [UInt8] = []
    private(set) var descriptors: [FileDescriptor] = []
    /// Why the bytes cannot be sent, found by a function that does not throw.
    private(set) var failure: BusError?

    package init(reserving capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Removes what was appended, and keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        descriptors = []
        failure = nil
    }

    /// Where the next byte goes.
    package var count: Int { bytes.count }

    /// Appends zero bytes up to a multiple of `alignment`: 1, 2, 4 or 8.
    package mutating func align(to alignment: Int) {
        let missing = -bytes.count & (alignment - 1)
        if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
    }

    /// Appends a number, on its own boundary.
    package mutating func append<Value: FixedBusType>(_ value: Value) {
        align(to: MemoryLayout<Value>.size)
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    /// Appends a string or an object path.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` when it holds a NUL, which D-Bus cannot carry.
    package mutating func append(string: String) throws(BusError) {
        append(UInt32(truncatingIfNeeded: string.utf8.count))
        var string = string
        let isClean = string.withUTF8 { utf8 in
            bytes.append(contentsOf: utf8)
            // Ten times as fast as `contains` in a debug build.
            return utf8.baseAddress.map { memchr($0, 0, utf8.count) == nil } ?? true
        }
        guard isClean else { throw .invalidValue("a string holds a NUL") }
        bytes.append(0)
    }

    /// Appends a signature; one of more than 255 bytes fails the message.
    package mutating func append(signature: Signature) {
        guard let count = UInt8(exactly: signature.text.utf8.count) else {
            failure = .invalidValue("a signature is longer than 255 bytes")
            return
        }
        bytes.append(count)
        bytes.append(contentsOf: signature.text.utf8)
        bytes.append(0)
    }

    /// Appends values that were marshalled before, from a boundary of 8 bytes on.
    package mutating func append(aligned8 marshalled: [UInt8]) {
        align(to: 8)
        bytes.append(contentsOf: marshalled)
    }

    mutating func append(descriptor: FileDescriptor) {
        append(UInt32(descriptors.count))
        descriptors.append(descriptor)
    }

    /// An array that was begun: where its length stands, and where its elements begin.
    package struct ArrayStart {
        fileprivate let lengthOffset: Int
        fileprivate let elementsOffset: Int
    }

    /// Begins an array whose elements start on a boundary of `alignment` bytes.
    package mutating func beginArray(alignment: Int) -> ArrayStart {
        append(0 as UInt32)
        let lengthOffset = bytes.count - 4
        align(to: alignment)
        return ArrayStart(lengthOffset: lengthOffset, elementsOffset: bytes.count)
    }

    /// Ends the array: everything since its begin are its elements.
    ///
    /// - Throws: ``BusError/tooLarge`` over 64 MiB.
    package mutating func endArray(_ start: ArrayStart) throws(BusError) {
        let length = bytes.count - start.elementsOffset
        guard length <= Self.maximumArrayBytes else { throw .tooLarge }
        patch(UInt32(length), at: start.lengthOffset)
    }

    /// Overwrites four bytes that were appended before.
    mutating func patch(_ value: UInt32, at offset: Int) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
        }
    }
}

/// What an entry of an `a{sv}` begins with, marshalled once: its key, and the type of its value.
///
/// Entries stand on eight bytes, so these are the same bytes in each, up to where the value begins.
nonisolated package struct EntryHead<Value: BusType>: Sendable {
    fileprivate let bytes: [UInt8]

    /// - Parameter key: Holds no NUL.
    package init(_ key: some RawRepresentable<String>) {
        var encoder = Encoder()
        precondition((try? encoder.append(string: key.rawValue)) != nil, "a key holds a NUL")
        encoder.append(signature: Value.signature)
        encoder.align(to: Value.alignment)
        bytes = encoder.bytes
    }
}

// One for each type of value: one for all would look their types up at each call.
nonisolated extension Encoder {
    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(
        _ head: EntryHead<String>, _ value: String?
    ) throws(BusError) {
        guard let value else { return }
        append(aligned8: head.bytes)
        try append(string: value)
    }

    /// Appends one entry of an `a{sv}`.
    package mutating func entry(
        _ head: EntryHead<ObjectPath>, _ value: ObjectPath
    ) throws(BusError) {
        append(aligned8: head.bytes)
        try append(string: value.text)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<Int64>, _ value: Int64?) {
        guard let value else { return }
        append(aligned8: head.bytes)
        append(value)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<UInt32>, _ value: UInt32?) {
        guard let value else { return }
        append(aligned8: head.bytes)
        append(value)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<Bool>, _ value: Bool?) {
        guard let value else { return }
        append(aligned8: head.bytes)
        append(value ? 1 : 0 as UInt32)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(
        _ head: EntryHead<BusStruct<Double, Double>>, _ value: (Double, Double)?
    ) {
        guard let value else { return }
        append(aligned8: head.bytes)
        append(value.0)
        append(value.1)
    }
}
