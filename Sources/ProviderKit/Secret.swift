internal import Glibc

/// Bytes that nobody but their user may see: a token, a client secret, a password.
///
/// Cannot be printed, compared or encoded by accident, and is wiped when its last holder drops it.
public final class Secret: Sendable {
    // Written in `init` and `deinit` alone.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

    /// Copies bytes. The caller sees to it that theirs are wiped.
    package init(copying source: UnsafeRawBufferPointer) {
        bytes = .allocate(byteCount: source.count, alignment: 1)
        bytes.copyMemory(from: source)
    }

    package convenience init(_ text: String) {
        let utf8 = Array(text.utf8)
        self.init(utf8)
    }

    package init(_ source: [UInt8]) {
        bytes = .allocate(byteCount: source.count, alignment: 1)
        bytes.copyBytes(from: source)
    }

    deinit {
        if let address = bytes.baseAddress { explicit_bzero(address, bytes.count) }
        bytes.deallocate()
    }

    public var isEmpty: Bool { bytes.isEmpty }

    /// Lends the bytes for the time of the call.
    public func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows
        -> Value
    {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Lends the bytes as text for the time of the call; what is not UTF-8 is replaced.
    package func withText<Value>(_ body: (String) throws -> Value) rethrows -> Value {
        try body(String(decoding: bytes, as: UTF8.self))
    }

    /// Whether both hold the same bytes, in a time that does not tell where they differ.
    package func matches(_ other: Secret) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        return zip(bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
