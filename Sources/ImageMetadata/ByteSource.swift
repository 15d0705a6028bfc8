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
    /// Reads an unsigned number of at most eight bytes; nil for one that is larger than any file, so that sums cannot
    /// overflow.
    package func number(at offset: Int, _ count: Int, isBigEndian: Bool = true) -> Int? {
        guard let bytes = bytes(at: offset, count)?.storage else { return nil }
        let ordered = isBigEndian ? Array(bytes) : bytes.reversed()
        let number = ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number < 1 << 48 ? Int(number) : nil
    }

    /// Returns true if a text is at an offset.
    func hasText(_ text: StaticString, at offset: Int = 0) -> Bool {
        text.withUTF8Buffer { text in
            bytes(at: offset, text.count).map { $0.storage.elementsEqual(text) } ?? false
        }
    }
}

/// The bytes of an open file.
package struct FileBytes: ByteSource {
    private let descriptor: Int32
    package let count: Int
    /// True if the file was last changed at least a minute ago.
    package let isAtRest: Bool

    /// - Parameter descriptor: A file open for reading. Its position is not used. The caller keeps it open, and closes
    ///   it.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        count = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
        isAtRest = abs(time(nil) - status.st_mtim.tv_sec) >= 60
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

/// A part of another source, which is read only where it is needed.
struct Part: ByteSource {
    private let source: any ByteSource
    private let start: Int
    let count: Int

    /// - Parameters:
    ///   - source: The whole.
    ///   - start: The offset of the part.
    ///   - count: The length of the part. A part that is longer than the rest of the source is cut.
    init?(_ source: some ByteSource, _ start: Int, _ count: Int) {
        guard 0...source.count ~= start, count >= 0 else { return nil }
        self.source = source
        self.start = start
        self.count = min(count, source.count - start)
    }

    func bytes(at offset: Int, _ count: Int) -> Bytes? {
        guard count >= 0, offset >= 0, offset <= self.count - count else { return nil }
        return source.bytes(at: start + offset, count)
    }
}

/// Bytes in memory that the caller keeps.
extension UnsafeRawBufferPointer: ByteSource {
    package func bytes(at offset: Int, _ count: Int) -> Bytes? {
        guard count >= 0, offset >= 0, offset <= self.count - count else { return nil }
        return Bytes(Array(self[offset..<offset + count]))
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

    package var array: [UInt8] { Array(storage) }
}

extension [UInt8] {
    /// Returns the ranges of these bytes, at least one. `ranges(of:)` of the standard library takes a hundred times as long.
    func occurrences(of bytes: [UInt8]) -> [Range<Int>] {
        withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return [] }
            var found: [Range<Int>] = []
            var start = 0
            while start <= count - bytes.count,
                let place = memchr(base + start, Int32(bytes[0]), count - bytes.count + 1 - start)
            {
                start = UnsafeRawPointer(place) - base
                if memcmp(place, bytes, bytes.count) == 0 {
                    found.append(start..<start + bytes.count)
                    start += bytes.count
                } else {
                    start += 1
                }
            }
            return found
        }
    }
}
