internal import Glibc

/// The lines of a stream, as it comes in.
package struct LineBuffer {
    /// A line has more bytes than were allowed; nothing is to be read any more.
    package struct TooLong: Error {}

    private let limit: Int
    private var rest: [UInt8] = []

    package init(limit: Int = .max) { self.limit = limit }

    /// Takes what came.
    ///
    /// - Parameters:
    ///   - bytes: What came.
    ///   - line: Called with each line that is whole now, without its end.
    /// - Throws: ``TooLong``.
    package mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ line: ([UInt8]) -> Void
    ) throws(TooLong) {
        var bytes = bytes
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

    /// What came after the last end of a line; nothing afterwards.
    package mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }
}
