internal import Glibc

/// The lines of a stream.
package struct LineBuffer {
    /// A line is longer than the limit. The rest of the stream must not be read.
    package struct TooLong: Error {}

    private let limit: Int
    private var rest: [UInt8] = []
    /// The size above which the rest of a line gets memory for the longest one. An array that grows is copied each time;
    /// memory that is not used yet takes none.
    private static let largeBytes = 1 << 19

    /// The number of bytes after the last end of a line.
    package var count: Int { rest.count }

    package init(limit: Int = .max) { self.limit = limit }

    /// Appends bytes of the stream.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - line: Receives each complete line, without its end.
    /// - Throws: ``TooLong``.
    package mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ line: ([UInt8]) -> Void
    ) throws(TooLong) {
        var bytes = bytes
        if rest.count + bytes.count > max(rest.capacity, Self.largeBytes), limit < .max {
            rest.reserveCapacity(limit + bytes.count)
        }
        while let base = bytes.baseAddress,
            let end = memchr(base, Int32(UInt8(ascii: "\n")), bytes.count)
        {
            let length = UnsafeRawPointer(end) - base
            rest += bytes.prefix(length)
            guard rest.count <= limit else { throw TooLong() }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(length + 1))
            line(takeRest())
        }
        rest += bytes
        guard rest.count <= limit else { throw TooLong() }
    }

    /// Returns and removes the bytes after the last end of a line.
    package mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }
}
