internal import Glibc
internal import Synchronization
internal import System

/// The exclusive use of a folder by one process: a lock on the file `imagefeedd.lock` in it.
///
/// The kernel releases the lock when the process ends for any reason. The file remains: if it were deleted while
/// another process opens it, two processes could hold a lock. The file is opened for writing, because NFS requires it
/// for a lock. For messages, the file contains the process ID and the host name of its last holder.
///
/// The corresponding C function is `flock`.
package final class FolderLock: Sendable {
    /// The result of an attempt to lock the folder.
    package enum Attempt: Equatable, Sendable {
        /// This object holds the lock.
        case held
        /// Another process holds the lock. The process ID is nil if it is unknown, or if the process runs on another
        /// host. The host is the name of the other one; nil for this one.
        case inUse(processID: Int32?, host: String?)
        /// The folder cannot be locked, because it cannot be written or its file system has no locks.
        case unavailable(StorageError)
    }

    /// The path of the folder.
    package let folder: String
    private let descriptor = Mutex<Int32>(-1)
    private var path: String { "\(folder)/imagefeedd.lock" }

    /// Creates the lock without locking it.
    package init(folder: String) { self.folder = folder }

    deinit { release() }

    /// Locks the folder, which is created if necessary, without waiting.
    package func attempt() -> Attempt {
        descriptor.withLock { descriptor in
            if descriptor >= 0 {
                guard !isCurrent(descriptor) else { return .held }
                // The folder was deleted with its lock, which other processes do not see.
                close(descriptor)
                descriptor = -1
            }
            do throws(StorageError) {
                let file = try openFile()
                guard flock(file, LOCK_EX | LOCK_NB) != 0 else {
                    descriptor = file
                    writeHolder(file)
                    return .held
                }
                let code = errno
                defer { close(file) }
                guard code == EWOULDBLOCK else { throw .cannotOpen(path, code) }
                return holder(file)
            } catch {
                return .unavailable(error)
            }
        }
    }

    /// Unlocks the folder.
    package func release() {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            // A child process that was just forked, or a thread that is blocked in a file system, may keep the file
            // open.
            flock(descriptor, LOCK_UN)
            close(descriptor)
            descriptor = -1
        }
    }

    /// Returns true if a descriptor is open for the file at the path.
    private func isCurrent(_ descriptor: Int32) -> Bool {
        guard let file = FileStatus(descriptor: descriptor) else { return false }
        return file.identity == FileStatus(path)?.identity
    }

    private func openFile() throws(StorageError) -> Int32 {
        let flags = O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
        // A folder whose mode cannot be changed may still contain a lock that another process holds.
        let created = Result { () throws(StorageError) in try createPrivateFolder(folder) }
        var file: Int32 = -1
        if case .success = created { file = open(path, O_RDWR | O_CREAT | flags, 0o600) }
        // Local file systems can also lock a file that is open for reading only.
        let code = errno
        if file < 0 { file = open(path, O_RDONLY | flags) }
        guard file < 0 else { return file }
        try created.get()
        throw .cannotCreate(path, code)
    }

    /// Writes the holder into the file. Best effort: the lock does not depend on it.
    private func writeHolder(_ file: Int32) {
        var text = Array("\(getpid()) \(CurrentProcess.hostName)\n".utf8)
        // The text is padded to overwrite the previous one: truncating a file takes longer than the other steps.
        text += repeatElement(UInt8(ascii: " "), count: max(0, 128 - text.count))
        pwrite(file, text, text.count, 0)
    }

    private func holder(_ file: Int32) -> Attempt {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = pread(file, &bytes, bytes.count, 0)
        let words = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
            .split { $0 == " " || $0 == "\n" }
        guard words.count == 2, let id = Int32(words[0]), id > 0 else {
            return .inUse(processID: nil, host: nil)
        }
        guard words[1] == CurrentProcess.hostName else {
            return .inUse(processID: nil, host: String(words[1]))
        }
        // The new holder may not have written its ID yet.
        return .inUse(processID: kill(id, 0) == 0 || errno == EPERM ? id : nil, host: nil)
    }
}

/// Creates a folder that only the user can access, and its missing ancestors with mode 0700, and restricts the mode of an existing folder.
///
/// - Throws: ``StorageError/cannotOpen(_:_:)``, ``StorageError/full``.
package func createPrivateFolder(_ path: String) throws(StorageError) {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & (S_IFMT | 0o077) == S_IFDIR { return }
    var built = ""
    var isReadOnly = false
    for element in path.split(separator: "/") {
        built += "/\(element)"
        guard mkdir(built, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
        let code = errno
        guard code != EROFS else {
            isReadOnly = true
            continue
        }
        // An ancestor that cannot be read can still be a part of the path.
        guard access(built, F_OK) == 0 else { throw .cannotCreate(path, code) }
    }
    guard stat(path, &status) == 0 else {
        throw .cannotOpen(path, isReadOnly ? EROFS : errno)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
        throw .cannotOpen(path, "it is not a folder")
    }
    if status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
        throw .cannotOpen(path, errno)
    }
}
