internal import DBus
internal import Glibc

/// A file that gets its name only once it is complete.
///
/// Until then it has none, so that nothing of it stays however we end. On a file system without such files it lies
/// beside its place under another name; ``discard()`` removes it unless it was finished.
struct PartFile {
    let descriptor: FileDescriptor
    /// Its name until then, if it has one.
    private let part: String?
    private let path: String
    private let replaces: Bool

    /// The path of a file that is to be called `name` if `path` is a folder, and `path` otherwise.
    static func target(_ path: String, name: String) -> String {
        guard isFolder(path) || path.hasSuffix("/") else { return path }
        return path == "." ? name : path.hasSuffix("/") ? path + name : "\(path)/\(name)"
    }

    /// Creates the file beside `path`.
    ///
    /// - Parameters:
    ///   - path: The name that it gets at the end.
    ///   - replaces: Whether that name may be in use.
    /// - Throws: ``CommandFailure`` when the name is in use, or there can be no file.
    init(beside path: String, replaces: Bool) throws(CommandFailure) {
        self.path = path
        self.replaces = replaces
        var status = stat()
        if !replaces, lstat(path, &status) == 0 { throw Self.inUse(path) }
        guard !Self.isFolder(path) else {
            throw CommandFailure(.failed, "\(path) is a folder.")
        }
        let folder = Self.folder(of: path)
        let nameless = open(
            folder.isEmpty ? "." : folder, O_WRONLY | O_CLOEXEC | Self.withoutName, 0o666)
        guard nameless < 0 else {
            descriptor = FileDescriptor(owning: nameless)
            part = nil
            return
        }
        let ending = ".part"
        var template = Array("\(folder).imagefeed-XXXXXX\(ending)".utf8CString)
        let number = mkstemps(&template, Int32(ending.utf8.count))
        guard number >= 0 else { throw Self.failure(path, errno) }
        descriptor = FileDescriptor(owning: number)
        part = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // As any file that a program saves, not as a secret one.
        let mask = umask(0)
        umask(mask)
        fchmod(number, 0o666 & ~mask)
    }

    /// Gives the file its name; what was complete before stays if that fails.
    ///
    /// - Throws: ``CommandFailure``: the disk is full, or the name came into use meanwhile.
    func finish() throws(CommandFailure) {
        guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
            throw Self.failure(path, errno)
        }
        if !replaces {
            // Unlike `rename`, it does not replace what came meanwhile.
            if link(to: path) {
                // Who watches the folder waits until somebody has written the file, which a link does not tell.
                let written = open(path, O_WRONLY | O_CLOEXEC)
                if written >= 0 { close(written) }
                return
            }
            if errno == EEXIST { throw Self.inUse(path) }
            // Some file systems have no links.
            var status = stat()
            if lstat(path, &status) == 0 { throw Self.inUse(path) }
        }
        let part = if let part { part } else { try named() }
        guard rename(part, path) == 0 else {
            let number = errno
            unlink(part)
            throw Self.failure(path, number)
        }
    }

    /// Removes what is left.
    func discard() { if let part { unlink(part) } }

    /// Gives a name to what has none, for a moment: a link replaces no file, `rename` does.
    private func named() throws(CommandFailure) -> String {
        let name = "\(Self.folder(of: path)).imagefeed-\(getpid()).part"
        unlink(name)
        guard link(to: name) else { throw Self.failure(path, errno) }
        return name
    }

    /// Source: open(2), under `O_TMPFILE`.
    private func link(to name: String) -> Bool {
        if let part { return Glibc.link(part, name) == 0 }
        let own = "/proc/self/fd/\(descriptor.rawValue)"
        return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
    }

    /// `O_TMPFILE`, which Swift does not see.
    private static let withoutName = 0o20_000_000 | O_DIRECTORY

    /// With the slash at its end; empty for the current one.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func inUse(_ path: String) -> CommandFailure {
        CommandFailure(.failed, "\(path) exists already; add --force to replace it.")
    }

    private static func failure(_ path: String, _ number: Int32) -> CommandFailure {
        CommandFailure(
            .failed, "\(path) cannot be written: \(String(cString: strerror(number))).")
    }
}
