internal import Glibc

/// A buffer for a secret, which is overwritten before it is freed.
///
/// It never grows, because that would leave a copy of the secret in memory. Used by one thread at a time.
package final class SecretBytes: @unchecked Sendable {
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    package init(capacity: Int) { buffer = .allocate(byteCount: capacity, alignment: 1) }

    deinit {
        buffer.wipe()
        buffer.deallocate()
    }

    package var isFull: Bool { count == buffer.count }

    /// The bytes without a line feed at their end. They are valid as long as the buffer exists.
    package var line: UnsafeRawBufferPointer {
        let bytes = buffer[..<count]
        let end = bytes.last == UInt8(ascii: "\n") ? count - 1 : count
        return UnsafeRawBufferPointer(rebasing: bytes[..<end])
    }

    /// Appends the bytes that `read` writes into the unused part.
    ///
    /// - Parameter read: Returns the number of bytes, or a negative number.
    /// - Returns: The result of `read`.
    package func append(_ read: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        let result = read(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
        count += max(0, result)
        return result
    }

    /// Appends the bytes of a file from its current position to its end, or until the buffer is full. Blocks.
    ///
    /// - Returns: False if the file cannot be read; the reason is in `errno`.
    package func readToEnd(_ descriptor: Int32) -> Bool {
        while !isFull {
            let count = append { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
        return true
    }
}
