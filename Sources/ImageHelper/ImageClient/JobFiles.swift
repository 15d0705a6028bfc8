internal import CLinux
internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import ImageProtocol
internal import System
internal import Translation

/// The open files of a job, which are closed with the last reference. Used on a queue that may block on disks.
nonisolated final class JobFiles: @unchecked Sendable {
    // Unchecked because the steps of a job are performed one after the other.

    /// A version of a file: its device, inode, size and time of the last change.
    typealias Stamp = [Int64]

    /// The version of the file that is read; nil if the job reads none.
    private(set) var stamp: Stamp?
    /// The format of the file that is read, according to its first bytes.
    private(set) var format: ImageFormat?
    /// The descriptors in the order that the helper expects.
    private(set) var descriptors: [Int32] = []
    /// The descriptor of the new file or of the memory for pixels; nil if the job writes none.
    private var output: Int32?
    /// The path to which the new file is written, and its final path.
    private var temporaryPath = ""
    private var destination = ""

    deinit {
        // On a network file system, the last close may wait for the server.
        DispatchQueue(label: "file-close").async { [descriptors] in
            for descriptor in descriptors { close(descriptor) }
        }
    }

    /// Duplicates the descriptor of an image, and creates the memory file for its pixels.
    static func forPixels(of file: Int32) throws(ImageProcessorError) -> JobFiles {
        let files = JobFiles()
        let input = fcntl(file, F_DUPFD_CLOEXEC, 0)
        guard input >= 0 else { throw unreadable(errno) }
        try files.setSource(input)
        let output = shim_memfd("imagefeed-pixels")
        guard output >= 0 else { throw unwritable(errno) }
        files.setOutput(output)
        // Pages that are not written take no memory.
        guard ftruncate(output, off_t(PixelSize.maximumBytes)) == 0 else {
            throw unwritable(errno)
        }
        return files
    }

    /// Maps the pixels that the helper wrote.
    func pixels(_ size: PixelSize) throws(ImageProcessorError) -> DecodedPixels {
        // Seals fail while the helper can still write: then it was compromised.
        guard let output, size.byteCount <= PixelSize.maximumBytes,
            ftruncate(output, off_t(size.byteCount)) == 0, shim_seal(output) == 0,
            let memory = mmap(nil, size.byteCount, PROT_READ, Int32(MAP_SHARED), output, 0),
            memory != MAP_FAILED
        else { throw Self.invalidImage }
        return DecodedPixels(size, UnsafeRawBufferPointer(start: memory, count: size.byteCount))
    }

    /// Opens the file that a job reads, and reads its first bytes. If the file does not respond, this blocks instead of
    /// the helper.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - progress: Observes the calls.
    ///   - readsHeader: True if the job reads only the header.
    /// - Returns: The open file; an error if it cannot be read.
    static func openSource(
        _ path: [UInt8], _ progress: FileProgress, readsHeader: Bool
    ) -> Result<JobFiles, ImageProcessorError> {
        let fault = progress.begin(path)
        guard fault == 0 else { return .failure(unreadable(fault)) }
        // O_NONBLOCK: the file may have been replaced by a pipe.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = PathBytes(bytes: path).withCString { open($0, flags) }
        guard descriptor >= 0 else { return .failure(unreadable(errno)) }
        // Without this, the system reads 128 KB or more for a header.
        if readsHeader { posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM) }
        return Result { () throws(ImageProcessorError) in
            let files = JobFiles()
            try files.setSource(descriptor)
            return files
        }
    }

    /// Opens the file that a job writes.
    func openDestination(_ destination: String) throws(ImageProcessorError) {
        // The name is the same for all attempts, so that the remains of a killed daemon do not accumulate.
        let temporaryPath = "\(destination).imagefeed-part"
        unlink(temporaryPath)
        let descriptor = open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(errno) }
        setOutput(descriptor)
        self.temporaryPath = temporaryPath
        self.destination = destination
    }

    private func setOutput(_ descriptor: Int32) {
        output = descriptor
        descriptors.append(descriptor)
    }

    private func setSource(_ descriptor: Int32) throws(ImageProcessorError) {
        descriptors.append(descriptor)
        guard let status = FileStatus(descriptor: descriptor), status.kind == .file else {
            throw .notReadable(Message("The path is not a regular file."))
        }
        stamp = [
            status.identity.device, status.identity.inode, status.byteCount, status.modified,
            status.modifiedNanoseconds,
        ]
        format = ImageFormat(FileBytes(descriptor: descriptor))
    }

    /// Moves the new file, if there is one, to its final path.
    func finish() throws(ImageProcessorError) {
        guard let output else { return }
        // A malicious image may have compromised the helper.
        guard ImageFormat(FileBytes(descriptor: output)) == .png else { throw Self.invalidImage }
        // Synced before the rename: after a power failure the file is complete, or absent.
        guard fdatasync(output) == 0, rename(temporaryPath, destination) == 0 else {
            throw Self.unwritable(errno)
        }
    }

    /// Deletes the new file after a failure.
    func deleteNew() { if !temporaryPath.isEmpty { unlink(temporaryPath) } }

    private static let invalidImage = ImageProcessorError.failed(
        Message("The image helper wrote an invalid image; use another image."))

    private static func unreadable(_ code: Int32) -> ImageProcessorError {
        .notReadable(
            code == ENOENT
                ? Message("The file does not exist.")
                : Message(
                    "The file cannot be read: {reason}.",
                    ["reason": String(cString: strerror(code))]))
    }

    static func unwritable(_ code: Int32) -> ImageProcessorError {
        code == ENOSPC || code == EDQUOT
            ? .storageFull
            : .failed(
                Message(
                    "The image cannot be written: {reason}.",
                    ["reason": String(cString: strerror(code))]))
    }
}

/// The pixels of an image: upright rows in sRGB, from the top to the bottom. Each pixel has the bytes blue, green, red and
/// alpha, multiplied by alpha.
///
/// The memory is shared with no other process that can write it.
// Sendable because the memory never changes.
package nonisolated final class DecodedPixels: @unchecked Sendable {
    package let width: Int
    package let height: Int
    /// The size of the whole image, upright.
    package let fullWidth: Int
    package let fullHeight: Int
    /// The rows, without gaps. The memory is valid as long as this object.
    package let bytes: UnsafeRawBufferPointer

    /// Takes ownership of mapped memory.
    init(_ size: PixelSize, _ bytes: UnsafeRawBufferPointer) {
        width = size.width
        height = size.height
        fullWidth = size.fullWidth
        fullHeight = size.fullHeight
        self.bytes = bytes
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
}
