internal import CGLib
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Synchronization
internal import System

/// The digest of the image data of a file, which is the same after its metadata was edited.
struct FileDigest: Hashable, Sendable {
    /// SHA-256; 32 bytes.
    let bytes: [UInt8]
    /// The number of bytes of image data.
    let count: Int64
}

/// Returns the checksum of a text as hexadecimal digits.
func checksum(_ text: String, _ kind: GChecksumType) -> String? {
    guard let digest = g_compute_checksum_for_string(kind, text, -1) else { return nil }
    defer { g_free(digest) }
    return String(cString: digest)
}

/// Reads the image data of files.
final class DigestReader: Sendable {
    /// The result of reading a file.
    struct Result: Sendable {
        /// The stamp of the file that was read.
        let stamp: FileStamp
        /// The number of bytes of image data.
        let count: Int64
        /// nil if the image data has not the expected number of bytes, so that it was not read.
        let digest: FileDigest?
    }

    private static let bufferBytes = 128 << 10

    /// The number of files whose image data was read.
    let reads = Atomic(0)
    private let files: FileThreads

    init(_ files: FileThreads) { self.files = files }

    /// Returns true if the file is proven to be absent.
    func isAbsent(_ path: [UInt8]) async -> Bool {
        let lookup = await files.run(path) { FileStatus.lookUp(path, $0) }
        return if case .absent = lookup { true } else { false }
    }

    /// Reads a file; nil for one that cannot be read, is not a regular file, changes meanwhile, or does not respond.
    func digest(ofFile path: [UInt8]) async -> Result? {
        await files.run(path) { [self] in read(path, $0) } ?? nil
    }

    /// Reads a file with the C functions `g_checksum_update` and `g_checksum_get_digest`. Blocks.
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - progress: The progress of the job.
    ///   - count: The expected number of bytes of image data; nil for any.
    /// - Returns: See ``digest(ofFile:)``.
    func read(_ path: [UInt8], _ progress: FileProgress, expecting count: Int64? = nil) -> Result? {
        guard case .success(let descriptor) = PictureFolder.open(path, progress) else { return nil }
        defer { close(descriptor) }
        guard let before = FileStatus(descriptor: descriptor),
            let checksum = g_checksum_new(G_CHECKSUM_SHA256)
        else { return nil }
        defer { g_checksum_free(checksum) }
        let ranges = ImageFormat.dataRanges(of: FileBytes(descriptor: descriptor))
        let total = Int64(ranges.reduce(0) { $0 + $1.count })
        if let count, count != total {
            return Result(stamp: before.stamp, count: total, digest: nil)
        }
        reads.add(1, ordering: .relaxed)
        let isWhole = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.bufferBytes) {
            buffer in
            for var range in ranges {
                while !range.isEmpty {
                    guard progress.advance() else { return false }
                    let count = pread(
                        descriptor, buffer.baseAddress, min(buffer.count, range.count),
                        off_t(range.lowerBound))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    g_checksum_update(checksum, buffer.baseAddress, count)
                    range = range.dropFirst(count)
                }
            }
            return true
        }
        guard isWhole, FileStatus(descriptor: descriptor)?.stamp == before.stamp else { return nil }
        var digest = [UInt8](repeating: 0, count: 32)
        var length = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &length)
        return Result(
            stamp: before.stamp, count: total, digest: FileDigest(bytes: digest, count: total))
    }
}
