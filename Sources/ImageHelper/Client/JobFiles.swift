internal import CLinux
internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import System

/// What a job reads and writes, open. Used on a queue that may wait for disks.
nonisolated struct JobFiles: Sendable {
    /// A version of a file.
    struct Stamp: Hashable, Sendable {
        let device: UInt
        let inode: UInt
        let bytes: Int
        let seconds: Int
        let nanoseconds: Int
    }

    /// The file that is read; nil where none is.
    private(set) var stamp: Stamp?
    private var input: Int32?
    private var output: Int32?
    /// Where the new file is written, and where it is to be.
    private var part = ""
    private var destination = ""

    /// In the order in which the helper takes them.
    var descriptors: [Int32] { [input, output].compactMap(\.self) }

    /// Reads the first bytes of a file, so that one that does not respond is known before a helper waits for it.
    static func touch(
        _ path: [UInt8], _ progress: FileProgress
    ) -> Result<Void, ImageProcessorError> {
        openSource(path, progress).map { files in
            defer { files.discard() }
            guard let input = files.input else { return }
            var bytes: (UInt64, UInt64) = (0, 0)
            _ = withUnsafeMutableBytes(of: &bytes) {
                pread(input, $0.baseAddress, $0.count, 0)
            }
        }
    }

    /// Opens the file that a job reads.
    static func openSource(
        _ path: [UInt8], _ progress: FileProgress
    ) -> Result<JobFiles, ImageProcessorError> {
        let fault = progress.begin(path)
        guard fault == 0 else { return .failure(unreadable(fault)) }
        var files = JobFiles()
        do {
            try files.openSource(path)
            return .success(files)
        } catch {
            files.discard()
            return .failure(error)
        }
    }

    /// Opens the file that a job writes.
    func with(_ destination: String?) -> Result<JobFiles, ImageProcessorError> {
        var files = self
        do {
            if let destination { try files.openDestination(destination) }
            return .success(files)
        } catch {
            files.discard()
            return .failure(error)
        }
    }

    private mutating func openSource(_ path: [UInt8]) throws(ImageProcessorError) {
        // Not blocking: the file may have been replaced by a pipe.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = Glibc.open((path + [0]).map(CChar.init(bitPattern:)), flags)
        guard descriptor >= 0 else { throw Self.unreadable(errno) }
        input = descriptor
        var status = Glibc.stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .notReadable("There is no such file.")
        }
        stamp = Stamp(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), bytes: Int(status.st_size),
            seconds: Int(status.st_mtim.tv_sec), nanoseconds: Int(status.st_mtim.tv_nsec))
    }

    private mutating func openDestination(
        _ path: String
    ) throws(ImageProcessorError) {
        destination = path
        // The same for all attempts, so that what a daemon left that was killed does not pile up.
        let partPath = "\(path).imagefeed-part"
        unlink(partPath)
        let descriptor = Glibc.open(partPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(errno) }
        part = partPath
        output = descriptor
    }

    /// Closes everything, and puts the new file where it is to be if the job was done.
    func finish<Value>(
        _ result: Result<Value, ImageProcessorError>
    ) -> Result<Value, ImageProcessorError> {
        guard let output, case .success = result else {
            discard()
            return result
        }
        do throws(ImageProcessorError) {
            try check(output)
            // On the disk before it has its name: after a power cut there is a whole file, or none.
            guard fdatasync(output) == 0, rename(part, destination) == 0 else {
                throw Self.unwritable(errno)
            }
        } catch {
            discard()
            return .failure(error)
        }
        closeAll()
        return result
    }

    /// Closes everything and keeps nothing.
    func discard() {
        closeAll()
        if !part.isEmpty { unlink(part) }
    }

    private func closeAll() {
        if let output { close(output) }
        // A network file system may make the last close wait for its server.
        if let input { DispatchQueue(label: "file-close").async { close(input) } }
    }

    /// Looks at what was written: whoever decodes may have been taken over by what it decoded.
    private func check(_ output: Int32) throws(ImageProcessorError) {
        let prefix = [UInt8](unsafeUninitializedCapacity: ImageFormat.prefixBytes) {
            $1 = max(0, pread(output, $0.baseAddress, $0.count, 0))
        }
        switch ImageFormat(prefix: prefix) {
        case .png, .jpeg: return
        default: throw .failed("What decodes images made none.")
        }
    }

    private static func unreadable(_ code: Int32) -> ImageProcessorError {
        .notReadable(
            code == ENOENT
                ? "There is no such file."
                : "The file cannot be read: \(String(cString: strerror(code))).")
    }

    private static func unwritable(_ code: Int32) -> ImageProcessorError {
        code == ENOSPC || code == EDQUOT
            ? .storageFull
            : .failed("The image cannot be written: \(String(cString: strerror(code))).")
    }
}

/// Files that ended the helper, as they were then; the last thousand.
nonisolated struct CrashingFiles {
    private var stamps: Set<JobFiles.Stamp> = []
    private var order: [JobFiles.Stamp] = []

    func contains(_ stamp: JobFiles.Stamp?) -> Bool { stamp.map(stamps.contains) ?? false }

    mutating func insert(_ stamp: JobFiles.Stamp?) {
        guard let stamp, stamps.insert(stamp).inserted else { return }
        order.append(stamp)
        if order.count > 1000 { stamps.remove(order.removeFirst()) }
    }
}
