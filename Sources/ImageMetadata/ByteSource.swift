internal import Glibc

/// Bytes with random access: a file, or a part of one.
package protocol ByteSource {
    /// The total number of bytes.
    var count: Int { get }

    /// Reads bytes.
    ///
    /// - Returns: Exactly `count` bytes from `offset` on; nil if the range is outside of the source or cannot be read.
    func bytes(at offset: Int, _ count: Int) -> Bytes?
}

extension ByteSource {
    /// Reads an unsigned number of at most eight bytes.
    func number(at offset: Int, _ count: Int, isBigEndian: Bool = true) -> Int? {
        guard let bytes = bytes(at: offset, count)?.storage else { return nil }
        let ordered = isBigEndian ? Array(bytes) : bytes.reversed()
        return Int(exactly: ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}

/// The bytes of an open file.
package struct FileBytes: ByteSource {
    private let descriptor: Int32
    package let count: Int

    /// - Parameter descriptor: A file open for reading. Its position is not used. The caller keeps it open, and closes
    ///   it.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        count = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    package func bytes(at offset: Int, _ count: Int) -> Bytes? {
        guard count >= 0, offset >= 0, offset <= self.count - count else { return nil }
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                let done = pread(
                    descriptor, buffer.baseAddress.map { $0 + initialized }, count - initialized,
                    off_t(offset + initialized))
                if done < 0 && errno == EINTR { continue }
                guard done > 0 else {
                    // The file was truncated meanwhile, or the disk fails.
                    isWhole = false
                    return
                }
                initialized += done
            }
        }
        return isWhole ? Bytes(bytes) : nil
    }
}

/// Bytes in memory. Every access is checked: it returns nil outside of the bounds.
package struct Bytes: ByteSource {
    fileprivate let storage: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { storage = bytes[...] }

    private init(_ bytes: ArraySlice<UInt8>) { storage = bytes }

    package var count: Int { storage.count }

    package func bytes(at offset: Int, _ count: Int) -> Bytes? {
        guard count >= 0, offset >= 0, offset <= storage.count - count else { return nil }
        let start = storage.startIndex + offset
        return Bytes(storage[start..<start + count])
    }

    /// Returns the bytes from `offset` to the end.
    package func dropping(_ offset: Int) -> Bytes? { bytes(at: offset, count - offset) }

    package var array: [UInt8] { Array(storage) }

    func hasText(_ text: StaticString, at offset: Int = 0) -> Bool {
        text.withUTF8Buffer { text in
            bytes(at: offset, text.count).map { $0.storage.elementsEqual(text) } ?? false
        }
    }
}
