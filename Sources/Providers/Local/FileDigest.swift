internal import CGLib
internal import CLinux
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Synchronization
internal import System

/// The content of a file as a SHA-256 digest of 32 bytes, and the properties by which an edited file is recognized.
struct FileDigest: Hashable, Sendable {
    let bytes: [UInt8]
    /// The stamp of the file that was read.
    var stamp: FileStamp
    /// The time of creation in nanoseconds since 1970; nil if the file system does not record it.
    var birth: Int64?
    /// The capture time in the metadata of the image.
    var taken: CaptureTime?
}

extension FileDigest {
    /// Returns true if two files have the same content.
    func hasContent(of other: FileDigest) -> Bool {
        bytes == other.bytes && stamp.sizeBytes == other.stamp.sizeBytes
    }
}

/// Returns the checksum of a text as hexadecimal digits.
func checksum(_ text: String, _ kind: GChecksumType) -> String? {
    guard let digest = g_compute_checksum_for_string(kind, text, -1) else { return nil }
    defer { g_free(digest) }
    return String(cString: digest)
}

/// Reads files for their digests.
final class DigestReader: Sendable {
    private static let bufferBytes = 128 << 10

    /// The number of files that were read.
    let reads = Atomic(0)
    private let files: FileThreads

    init(_ files: FileThreads) { self.files = files }

    /// Returns true if the file is proven to be absent.
    func isAbsent(_ path: [UInt8]) async -> Bool {
        let lookup = await files.run(path) { FileStatus.lookUp(path, $0) }
        return if case .absent = lookup { true } else { false }
    }

    /// Reads a file.
    ///
    /// - Returns: nil for a file that cannot be read, is not a regular file, changes meanwhile, or does not respond.
    func digest(ofFile path: [UInt8]) async -> FileDigest? {
        await files.run(path) { [self] in read(path, $0) } ?? nil
    }

    /// Reads a file with the C functions `g_checksum_update` and `g_checksum_get_digest`. Blocks.
    func read(_ path: [UInt8], _ progress: FileProgress) -> FileDigest? {
        reads.add(1, ordering: .relaxed)
        guard case .success(let descriptor) = PictureFolder.open(path, progress) else { return nil }
        defer { close(descriptor) }
        guard let before = FileStatus(descriptor: descriptor),
            let checksum = g_checksum_new(G_CHECKSUM_SHA256)
        else { return nil }
        defer { g_checksum_free(checksum) }
        let isWhole = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.bufferBytes) {
            buffer in
            while progress.advance() {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 }
                g_checksum_update(checksum, buffer.baseAddress, count)
            }
            return false
        }
        guard isWhole, FileStatus(descriptor: descriptor)?.stamp == before.stamp else {
            return nil
        }
        var digest = [UInt8](repeating: 0, count: 32)
        var length = gsize(digest.count)
        g_checksum_get_digest(checksum, &digest, &length)
        return FileDigest(
            bytes: digest, stamp: before.stamp, birth: FileDigest.birth(descriptor),
            taken: CaptureTime(FileBytes(descriptor: descriptor)))
    }
}

extension FileDigest {
    /// Returns the time of creation of an open file; nil if it is unknown.
    static func birth(_ descriptor: Int32) -> Int64? {
        var birth = 0
        return shim_get_birth_time(descriptor, &birth) == 0 ? Int64(birth) : nil
    }
}

/// The time at which a photo was taken, as the clock of the camera showed it.
struct CaptureTime: Hashable, Sendable {
    /// Seconds since 1970, if the clock showed UTC.
    let seconds: Int64
    /// The decimal digits of the fraction of a second; empty if the camera does not record it.
    let fraction: String
}

extension CaptureTime {
    init?(_ file: FileBytes) {
        guard let taken = ImageHeader(file)?.taken else { return nil }
        self.init(seconds: taken.seconds, fraction: taken.fraction)
    }

    /// The form in which the time is stored: `1732255320.25`.
    var text: String { fraction.isEmpty ? "\(seconds)" : "\(seconds).\(fraction)" }

    /// Reads the stored form; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard let seconds = parts.first.flatMap({ Int64($0) }) else { return nil }
        self.init(seconds: seconds, fraction: parts.count > 1 ? String(parts[1]) : "")
    }

    /// Returns true if two photos were taken at the same time. Some editors drop the fraction, so a missing one matches
    /// any.
    func matches(_ other: CaptureTime) -> Bool {
        seconds == other.seconds
            && (fraction == other.fraction || fraction.isEmpty || other.fraction.isEmpty)
    }
}
