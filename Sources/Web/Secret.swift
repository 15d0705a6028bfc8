internal import Glibc

/// A value that must not be printed, logged or stored in plain text: a token, a client secret, a password.
///
/// It cannot be printed, compared or encoded by accident. The bytes are overwritten when the last reference is
/// released.
public final class Secret: Sendable {
    // Written in `init` and `deinit` only.
    nonisolated(unsafe) private let bytes: UnsafeMutableRawBufferPointer

    /// Creates a secret from a text in UTF-8.
    package convenience init(_ text: String) { self.init(text.utf8) }

    /// Copies bytes. The caller overwrites its own copy.
    package init(_ source: some Collection<UInt8>) {
        bytes = .allocate(byteCount: source.count, alignment: 1)
        bytes.copyBytes(from: source)
    }

    deinit {
        bytes.wipe()
        bytes.deallocate()
    }

    /// True if the secret has no bytes.
    public var isEmpty: Bool { bytes.isEmpty }

    /// Calls a closure with the bytes, which are valid during the call only.
    public func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows
        -> Value
    {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// Calls a closure with the bytes as text. Invalid UTF-8 is replaced.
    package func withText<Value>(_ body: (String) throws -> Value) rethrows -> Value {
        try body(String(decoding: bytes, as: UTF8.self))
    }

    /// Returns true if both secrets have the same bytes. The time does not depend on the position of a difference.
    package func matches(_ other: Secret) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        return zip(bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text `(secret)`.
    public var description: String { "(secret)" }
    /// The text `(secret)`.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the bytes with zeros. The compiler does not omit it.
    ///
    /// The corresponding C function is `explicit_bzero`.
    package func wipe() {
        if let baseAddress { explicit_bzero(baseAddress, count) }
    }
}

extension [UInt8] {
    /// Overwrites the bytes of this copy with zeros.
    package mutating func wipe() { withUnsafeMutableBytes { $0.wipe() } }
}
