internal import DBus
internal import Glibc

/// A file that gets its name only once it is complete.
///
/// Until then it lies beside its place under another name; ``discard()`` removes it unless it was finished.
struct PartFile {
    let descriptor: FileDescriptor
    private let part: String
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
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
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
            if link(part, path) == 0 { return }
            if errno == EEXIST { throw Self.inUse(path) }
            // Some file systems have no links.
            var status = stat()
            if lstat(path, &status) == 0 { throw Self.inUse(path) }
        }
        guard rename(part, path) == 0 else { throw Self.failure(path, errno) }
    }

    /// Removes what is left.
    func discard() { unlink(part) }

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
