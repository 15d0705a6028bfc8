internal import Glibc

/// A writer that marshals values in the byte order of this machine.
///
/// The iterators of libdbus are not used: they take about ten times as long for a page of photos, and they abort the
/// process on an invalid value. Instead, the bytes go through `dbus_message_demarshal`, which validates all of them and
/// reports an error.
///
/// Source: D-Bus specification, "Marshalling (Wire Format)".
nonisolated package struct Encoder {
    /// The largest array that D-Bus allows: 64 MiB.
    package static let maximumArrayBytes = 1 << 26
    /// The largest message that D-Bus allows: 128 MiB.
    package static let maximumMessageBytes = 1 << 27

    private(set) var bytes: [UInt8] = []
    private(set) var descriptors: [FileDescriptor] = []
    /// The reason why the bytes cannot be sent, stored by a function that does not throw.
    private(set) var failure: BusError?

    /// Creates an empty encoder with memory for most messages.
    package init() { bytes.reserveCapacity(256) }

    /// Removes the appended values and keeps the allocated memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        descriptors = []
        failure = nil
    }

    /// The number of bytes, which is the offset of the next byte.
    package var count: Int { bytes.count }

    /// Appends zero bytes up to a multiple of `alignment`: 1, 2, 4 or 8.
    package mutating func align(to alignment: Int) {
        let missing = -bytes.count & (alignment - 1)
        guard missing > 0 else { return }
        withUnsafeBytes(of: 0 as UInt64) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<missing]))
        }
    }

    /// Appends a number at its natural alignment.
    package mutating func append<Value: FixedBusType>(_ value: Value) {
        align(to: MemoryLayout<Value>.size)
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }

    /// Appends a string or an object path.
    ///
    /// - Throws: ``BusError/invalidValue(_:)`` if it contains a NUL, which D-Bus does not allow.
    package mutating func append(string: String) throws(BusError) {
        append(UInt32(truncatingIfNeeded: string.utf8.count))
        var string = string
        let isClean = string.withUTF8 { utf8 in
            bytes.append(contentsOf: utf8)
            // In a debug build, ten times as fast as `contains`.
            return utf8.baseAddress.map { memchr($0, 0, utf8.count) == nil } ?? true
        }
        guard isClean else { throw .invalidValue("a string contains a NUL character") }
        bytes.append(0)
    }

    /// Appends a signature. A signature of more than 255 bytes makes the message invalid.
    package mutating func append(signature: Signature) {
        guard let count = UInt8(exactly: signature.text.utf8.count) else {
            failure = .invalidValue("a signature is longer than 255 bytes")
            return
        }
        bytes.append(count)
        bytes.append(contentsOf: signature.text.utf8)
        bytes.append(0)
    }

    /// Appends a dictionary.
    mutating func append<Key: BasicBusType, Value: BusType>(
        entries: some Sequence<(key: Key, value: Value)>
    ) throws(BusError) {
        let start = beginArray(alignment: 8)
        for (key, value) in entries {
            align(to: 8)
            try key.encode(into: &self)
            try value.encode(into: &self)
        }
        try endArray(start)
    }

    /// Appends the first part of an entry of an `a{sv}`, at an alignment of 8 bytes.
    fileprivate mutating func append<Value>(_ head: EntryHead<Value>) {
        let range = 8 - (-bytes.count & 7)..<head.end
        withUnsafeBytes(of: head.bytes) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range]))
        }
    }

    mutating func append(descriptor: FileDescriptor) {
        append(UInt32(descriptors.count))
        descriptors.append(descriptor)
    }

    /// The offsets of the length and of the elements of an array that has been begun.
    package typealias ArrayStart = (lengthOffset: Int, elementsOffset: Int)

    /// Begins an array whose elements are aligned to `alignment` bytes.
    package mutating func beginArray(alignment: Int) -> ArrayStart {
        append(0 as UInt32)
        let lengthOffset = bytes.count - 4
        align(to: alignment)
        return (lengthOffset, bytes.count)
    }

    /// Ends the array. All values appended since ``beginArray(alignment:)`` are its elements.
    ///
    /// - Throws: ``BusError/tooLarge`` if the array exceeds 64 MiB.
    package mutating func endArray(_ start: ArrayStart) throws(BusError) {
        let length = bytes.count - start.elementsOffset
        guard length <= Self.maximumArrayBytes else { throw .tooLarge }
        patch(UInt32(length), at: start.lengthOffset)
    }

    /// Overwrites four bytes at `offset`.
    mutating func patch(_ value: UInt32, at offset: Int) {
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
        }
    }
}

/// The first part of an entry of an `a{sv}`, marshalled once: its key and the type of its value.
///
/// Entries are aligned to 8 bytes, so the bytes up to the value are the same in each entry.
nonisolated package struct EntryHead<Value: BusType>: Sendable {
    /// Eight zero bytes for the alignment, then the bytes of the part. They are stored in place: a reference would be
    /// counted for each entry.
    fileprivate let bytes: InlineArray<48, UInt8>
    /// The end of the part in ``bytes``.
    fileprivate let end: Int

    /// - Parameter key: Must not contain a NUL, and have at most 24 bytes.
    package init(_ key: String) {
        var encoder = Encoder()
        precondition((try? encoder.append(string: key)) != nil, "a key holds a NUL")
        encoder.append(signature: Value.signature)
        encoder.align(to: Value.alignment)
        let part = encoder.bytes
        precondition(part.count <= 40, "a key is too long")
        bytes = InlineArray { index in
            8..<8 + part.count ~= index ? part[index - 8] : 0
        }
        end = 8 + part.count
    }
}

// One overload per value type: a generic function would look the types up at each call.
nonisolated extension Encoder {
    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(
        _ head: EntryHead<String>, _ value: String?
    ) throws(BusError) {
        guard let value else { return }
        append(head)
        try append(string: value)
    }

    /// Appends one entry of an `a{sv}`.
    package mutating func entry(
        _ head: EntryHead<ObjectPath>, _ value: ObjectPath
    ) throws(BusError) {
        append(head)
        try append(string: value.text)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<Int64>, _ value: Int64?) {
        guard let value else { return }
        append(head)
        append(value)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<UInt32>, _ value: UInt32?) {
        guard let value else { return }
        append(head)
        append(value)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<Double>, _ value: Double?) {
        guard let value else { return }
        append(head)
        append(value)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(_ head: EntryHead<Bool>, _ value: Bool?) {
        guard let value else { return }
        append(head)
        append(value ? 1 : 0 as UInt32)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry(
        _ head: EntryHead<BusStruct<Double, Double>>, _ value: (Double, Double)?
    ) {
        guard let value else { return }
        append(head)
        append(value.0)
        append(value.1)
    }
}
