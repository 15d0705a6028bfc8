internal import DBus
internal import Glibc

/// A file that gets its name only once it is complete.
///
/// Until then it has none, so that nothing of it stays if the program is killed. On a file system without such files it
/// has another name in the same folder; ``discard()`` removes it unless it was finished.
struct PartFile {
    let descriptor: FileDescriptor
    /// The name until the file is complete, if it has one.
    private let part: PathBytes?
    private let path: PathBytes
    private let replaces: Bool

    /// The path of a file that is to be called `name` if `path` is a folder, and `path` otherwise.
    static func target(_ path: PathBytes, name: String) -> PathBytes {
        guard isFolder(path) || path.hasSlashAtEnd else { return path }
        return path == PathBytes(".") ? PathBytes(name) : path.appending(PathBytes(name))
    }

    /// Creates the file in the folder of `path`.
    ///
    /// - Parameters:
    ///   - path: The name that the file gets at the end. Of a symbolic link, the file that it leads to is replaced, and the
    ///     link stays.
    ///   - replaces: True if a file of that name is to be replaced.
    /// - Throws: ``CommandFailure`` when the name is in use, or there can be no file.
    init(beside path: PathBytes, replaces: Bool) throws(CommandFailure) {
        self.replaces = replaces
        var status = stat()
        if !replaces, path.withCString({ lstat($0, &status) }) == 0 { throw Self.inUse(path) }
        guard !Self.isFolder(path) else {
            throw CommandFailure(.failed, "\(path.text) is a folder.")
        }
        guard let target = replaces ? path.followingLinks() : path else {
            throw Self.failure(path, errno)
        }
        self.path = target
        // As any file that a program saves, not as a secret one; or as the file that it replaces.
        let mask = umask(0)
        umask(mask)
        var mode = 0o666 & ~mask
        if replaces, target.withCString({ stat($0, &status) }) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw CommandFailure(
                    .failed, "\(path.text) cannot be replaced: it is not a regular file.")
            }
            mode = status.st_mode & 0o777
        }
        let folder = target.folder
        let nameless = (folder.isEmpty ? PathBytes(".") : folder).withCString {
            open($0, O_WRONLY | O_CLOEXEC | Self.withoutName, 0o666)
        }
        if nameless >= 0 {
            descriptor = FileDescriptor(owning: nameless)
            part = nil
        } else {
            let ending = ".part"
            let name = folder.appending(PathBytes(".imagefeed-XXXXXX\(ending)"))
            var template = name.bytes.map(CChar.init(bitPattern:)) + [0]
            let number = mkstemps(&template, Int32(ending.utf8.count))
            guard number >= 0 else { throw Self.failure(path, errno) }
            descriptor = FileDescriptor(owning: number)
            part = PathBytes(bytes: template.dropLast().map(UInt8.init(bitPattern:)))
        }
        fchmod(descriptor.rawValue, mode)
    }

    /// Gives the file its name. If that fails, a file that was complete before stays.
    ///
    /// - Throws: ``CommandFailure``: the disk is full, or the name came into use meanwhile.
    func finish() throws(CommandFailure) {
        guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
            throw Self.failure(path, errno)
        }
        if !replaces {
            // Unlike `rename`, it does not replace what came meanwhile.
            if link(to: path) {
                // File system watchers wait for the close of a descriptor for writing, which a link does not report.
                let written = path.withCString { open($0, O_WRONLY | O_CLOEXEC) }
                if written >= 0 { close(written) }
                return
            }
            if errno == EEXIST { throw Self.inUse(path) }
            // Some file systems have no links.
            var status = stat()
            if path.withCString({ lstat($0, &status) }) == 0 { throw Self.inUse(path) }
        }
        let part = if let part { part } else { try named() }
        guard Self.rename(part, path) == 0 else {
            let number = errno
            Self.unlink(part)
            throw Self.failure(path, number)
        }
    }

    /// Removes a file that has a name and is not finished.
    func discard() { if let part { Self.unlink(part) } }

    /// Gives a temporary name to a file that has none: a link replaces no file, `rename` does.
    private func named() throws(CommandFailure) -> PathBytes {
        let name = path.folder.appending(PathBytes(".imagefeed-\(getpid()).part"))
        Self.unlink(name)
        guard link(to: name) else { throw Self.failure(path, errno) }
        return name
    }

    /// Source: open(2), under `O_TMPFILE`.
    private func link(to name: PathBytes) -> Bool {
        name.withCString { name in
            if let part { return part.withCString { Glibc.link($0, name) } == 0 }
            let own = "/proc/self/fd/\(descriptor.rawValue)"
            return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
        }
    }

    /// `O_TMPFILE`, which Swift does not see.
    private static let withoutName = 0o20_000_000 | O_DIRECTORY

    private static func rename(_ old: PathBytes, _ new: PathBytes) -> Int32 {
        old.withCString { old in new.withCString { Glibc.rename(old, $0) } }
    }

    private static func unlink(_ path: PathBytes) { _ = path.withCString { Glibc.unlink($0) } }

    private static func isFolder(_ path: PathBytes) -> Bool {
        var status = stat()
        return path.withCString { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func inUse(_ path: PathBytes) -> CommandFailure {
        CommandFailure(.failed, "\(path.text) exists already; add --force to replace it.")
    }

    private static func failure(_ path: PathBytes, _ number: Int32) -> CommandFailure {
        CommandFailure(
            .failed, "\(path.text) cannot be written: \(String(cString: strerror(number))).")
    }
}
