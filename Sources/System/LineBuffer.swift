internal import Glibc

/// The lines of a stream.
package struct LineBuffer {
    private let limit: Int
    private var rest: [UInt8] = []
    /// The size above which the rest of a line gets memory for the longest one. An array that grows is copied each time;
    /// memory that is not used yet takes none.
    private static let largeBytes = 1 << 19

    /// True if a line is longer than the limit. The bytes that follow it are lost.
    package var isTooLong: Bool { rest.count > limit }

    package init(limit: Int = .max) { self.limit = limit }

    /// Appends bytes of the stream.
    ///
    /// - Returns: The complete lines, without their ends, up to one that is too long.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var bytes = bytes
        if rest.count + bytes.count > max(rest.capacity, Self.largeBytes), limit < .max {
            rest.reserveCapacity(limit + bytes.count)
        }
        while let base = bytes.baseAddress,
            let end = memchr(base, Int32(UInt8(ascii: "\n")), bytes.count)
        {
            let length = UnsafeRawPointer(end) - base
            rest += bytes.prefix(length)
            guard !isTooLong else { return lines }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(length + 1))
            lines.append(takeRest())
        }
        rest += bytes
        return lines
    }

    /// Returns and removes the bytes after the last end of a line.
    package mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }
}
