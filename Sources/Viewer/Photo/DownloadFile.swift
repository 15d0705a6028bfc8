internal import DBus
internal import Glibc
internal import System

/// The file that a download writes.
///
/// A file that exists is replaced at the end, so that it remains if the download fails.
struct DownloadFile {
    /// The path of the complete file.
    let path: String
    let descriptor: FileDescriptor
    /// The path while the download runs.
    private let partPath: String

    /// Creates a file in a folder, with a number in its name if the name is taken.
    ///
    /// - Parameters:
    ///   - name: The name with an extension.
    ///   - folder: The folder, which is created if it is missing.
    /// - Returns: The new file.
    /// - Throws: ``DownloadError``.
    static func create(_ name: String, inFolder folder: String) throws(DownloadError) -> Self {
        mkdir(folder, 0o755)
        let end = name.lastIndex(of: ".") ?? name.endIndex
        for number in 1...1000 {
            let numbered =
                number == 1 ? name : "\(name[..<end]) (\(number))\(name[end...])"
            let path = "\(folder)/\(numbered)"
            if let descriptor = try createNew(path) {
                return Self(path: path, descriptor: descriptor, partPath: path)
            }
        }
        throw DownloadError(message: "The pictures folder has too many files with this name.")
    }

    /// Creates a file at a path that the user chose.
    ///
    /// - Parameter path: The path, which may be that of an existing file.
    /// - Returns: The new file.
    /// - Throws: ``DownloadError``.
    static func create(at path: String) throws(DownloadError) -> Self {
        if let descriptor = try createNew(path) {
            return Self(path: path, descriptor: descriptor, partPath: path)
        }
        // The target of a symbolic link is replaced, not the link.
        guard let resolved = realpath(path, nil) else { throw DownloadError(path: path) }
        let target = String(cString: resolved)
        free(resolved)
        let folder = target.lastIndex(of: "/").map { target[...$0] } ?? ""
        var template = Array("\(folder).imagefeed-XXXXXX".utf8CString)
        let raw = mkstemp(&template)
        guard raw >= 0 else { throw DownloadError(path: path) }
        _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
        if let permissions = filePermissions(target) { fchmod(raw, permissions) }
        let partPath = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Self(path: target, descriptor: FileDescriptor(owning: raw), partPath: partPath)
    }

    /// Makes the complete file visible at its path.
    ///
    /// - Throws: ``DownloadError``.
    func finish() throws(DownloadError) {
        guard partPath == path || rename(partPath, path) == 0 else {
            throw DownloadError(path: path)
        }
    }

    /// Removes the incomplete file.
    func discard() { unlink(partPath) }

    /// Creates a file; nil if it exists.
    private static func createNew(_ path: String) throws(DownloadError) -> FileDescriptor? {
        let raw = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0o644)
        if raw >= 0 { return FileDescriptor(owning: raw) }
        guard errno == EEXIST else { throw DownloadError(path: path) }
        return nil
    }
}

/// The reason why a download failed before the service was asked, or after it sent the photo.
struct DownloadError: Error {
    let message: String

    init(message: String) { self.message = message }

    /// Creates the error of a file, with the reason in `errno`.
    init(path: String) {
        message = "\(path) cannot be written: \(String(cString: strerror(errno)))."
    }
}
