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

    /// Where the next byte goes.
    package var count: Int { bytes.count }

    /// Appends zero bytes up to a multiple of `alignment`: 1, 2, 4 or 8.
    package mutating func align(to alignment: Int) {
        var missing = -bytes.count & (alignment - 1)
        while missing > 0 {
            bytes.append(0)
            missing -= 1
        }
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

nonisolated extension Encoder {
    /// Appends one entry of an `a{sv}`.
    package mutating func entry<Value: BusType>(_ key: String, _ value: Value) throws(BusError) {
        align(to: 8)
        try append(string: key)
        append(signature: Value.signature)
        try value.encode(into: &self)
    }

    /// Appends one entry of an `a{sv}` unless its value is unknown.
    package mutating func entry<Value: BusType>(_ key: String, _ value: Value?) throws(BusError) {
        if let value { try entry(key, value) }
    }
}
