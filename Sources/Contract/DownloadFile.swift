package import DBus
internal import Glibc
internal import ImageMetadata
package import System
internal import Translation

/// A file for a download, whose name is created when the file is complete.
///
/// An incomplete file has no name (`O_TMPFILE`), so that the kernel deletes it if the program is killed. On a file
/// system without this function, it has a temporary name in the same folder, and ``discard()`` removes the name.
package struct DownloadFile: Sendable {
    /// The handling of a file that exists at the path.
    package enum Conflict: Sendable {
        /// The file remains, and the download fails.
        case refuse
        /// The file is replaced. If it is a symbolic link, its target is replaced, not the link.
        case replace
        /// The file remains, and the new file has a number in its name.
        case number
    }

    package let descriptor: FileDescriptor
    /// The temporary name; nil if the file has no name.
    private let part: PathBytes?
    private let path: PathBytes
    private let conflict: Conflict
    private let isNamedByContent: Bool

    /// Returns the path of `name` in the folder `path`, or `path` itself if it is not a folder.
    package static func target(_ path: PathBytes, name: PathBytes) -> PathBytes {
        guard isFolder(path) || path.hasSlashAtEnd else { return path }
        return path == PathBytes(".") ? name : path.appending(name)
    }

    /// Creates the file in the folder of its path.
    ///
    /// - Parameters:
    ///   - path: The final path.
    ///   - conflict: The handling of a file that exists at the path.
    ///   - isNamedByContent: True if the extension of the name is changed to that of the content, which differs from the
    ///     expected one if a service states no media type, or converts photos for display only.
    /// - Throws: ``DownloadFileError``.
    package init(
        at path: PathBytes, _ conflict: Conflict, isNamedByContent: Bool = false
    ) throws(DownloadFileError) {
        self.conflict = conflict
        self.isNamedByContent = isNamedByContent
        if conflict == .refuse, Self.exists(path) { throw .exists(path) }
        guard !Self.isFolder(path) || conflict == .number else { throw .isFolder(path) }
        guard let target = conflict == .replace ? path.followingLinks() : path else {
            throw .failed(path, FileError(code: errno))
        }
        self.path = target
        var replacedMode: mode_t?
        var status = stat()
        if conflict == .replace, target.withCString({ stat($0, &status) }) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular(path) }
            replacedMode = status.st_mode & 0o777
        }
        var part: PathBytes?
        let folder = target.folder
        var number = (folder.isEmpty ? PathBytes(".") : folder).withCString {
            open($0, O_RDWR | O_CLOEXEC | Self.unnamedFileFlags, 0o666)
        }
        if number < 0 {
            let name = Self.temporaryName(beside: target)
            part = name
            number = name.withCString { open($0, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0o666) }
        }
        guard number >= 0 else { throw .failed(path, FileError(code: errno)) }
        descriptor = FileDescriptor(owning: number)
        self.part = part
        if let replacedMode { fchmod(number, replacedMode) }
    }

    /// Waits until the content is on the disk, and creates the final name of the file. If this fails, an existing file
    /// is not changed.
    ///
    /// - Returns: The path of the file.
    /// - Throws: ``DownloadFileError``, also if another file with this name was created meanwhile.
    @discardableResult
    package func finish() throws(DownloadFileError) -> PathBytes {
        guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else {
            throw .failed(path, FileError(code: errno))
        }
        let path = isNamedByContent ? pathByContent() : path
        switch conflict {
        case .replace: try rename(to: path)
        case .refuse: guard try create(path) else { throw .exists(path) }
        case .number:
            for number in 1...1000 {
                let path = path.numbered(number)
                if try create(path) { return path }
            }
            throw .exists(path)
        }
        return path
    }

    /// Removes the temporary name, if there is one. Call it in any case, also after ``finish()``.
    package func discard() { if let part { Self.unlink(part) } }

    // MARK: Names

    private func pathByContent() -> PathBytes {
        let file = FileBytes(descriptor: descriptor.rawValue)
        guard let nameExtension = ImageFormat.fileExtension(of: file) else { return path }
        return path.withExtension(nameExtension, replacing: ImageFormat.fileExtensions)
    }

    /// Creates a name of the file.
    ///
    /// - Returns: False if there is a file with this name.
    private func create(_ path: PathBytes) throws(DownloadFileError) -> Bool {
        // Unlike `rename`, `link` does not replace a file that was created meanwhile.
        if link(to: path) {
            // A link does not send the inotify event for which file system watchers wait: the close of a descriptor
            // that was open for writing.
            let written = path.withCString { open($0, O_WRONLY | O_CLOEXEC) }
            if written >= 0 { close(written) }
            return true
        }
        // Some file systems do not support hard links.
        guard errno != EEXIST, !Self.exists(path) else { return false }
        try rename(to: path)
        return true
    }

    private func rename(to path: PathBytes) throws(DownloadFileError) {
        // An unnamed file needs a name, because only `rename` can replace a file, not `link`.
        let part = self.part ?? Self.temporaryName(beside: self.path)
        guard self.part != nil || link(to: part) else {
            throw .failed(self.path, FileError(code: errno))
        }
        let result = part.withCString { old in path.withCString { Glibc.rename(old, $0) } }
        guard result == 0 else {
            let error = FileError(code: errno)
            Self.unlink(part)
            throw .failed(path, error)
        }
    }

    private static func temporaryName(beside path: PathBytes) -> PathBytes {
        let number = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return path.folder.appending(PathBytes(".imagefeed-\(number).part"))
    }

    /// Creates a hard link to the file.
    ///
    /// Source: open(2), section O_TMPFILE.
    private func link(to name: PathBytes) -> Bool {
        name.withCString { name in
            if let part { return part.withCString { Glibc.link($0, name) } == 0 }
            let own = "/proc/self/fd/\(descriptor.rawValue)"
            return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0
        }
    }

    /// `O_TMPFILE`, a macro that Swift does not import.
    private static let unnamedFileFlags = 0o20_000_000 | O_DIRECTORY

    private static func unlink(_ path: PathBytes) { _ = path.withCString { Glibc.unlink($0) } }

    private static func exists(_ path: PathBytes) -> Bool {
        var status = stat()
        return path.withCString { lstat($0, &status) } == 0
    }

    private static func isFolder(_ path: PathBytes) -> Bool {
        FileStatus(path.bytes)?.kind == .directory
    }
}

/// The error of the file of a download, with a sentence for users.
package enum DownloadFileError: Error, CustomStringConvertible {
    /// A file with this path exists.
    case exists(PathBytes)
    /// The path is that of a folder.
    case isFolder(PathBytes)
    /// The file cannot be replaced, because it is not a regular file.
    case notRegular(PathBytes)
    /// The file cannot be written.
    case failed(PathBytes, FileError)

    package var description: String {
        switch self {
        case .exists(let path): tr("{file} already exists.", ["file": path.text])
        case .isFolder(let path):
            tr("{file} is a folder. Choose another file name.", ["file": path.text])
        case .notRegular(let path):
            tr("{file} cannot be replaced: it is not a regular file.", ["file": path.text])
        case .failed(let path, let error):
            tr(
                "{file} cannot be written: {reason}.",
                ["file": path.text, "reason": error.description])
        }
    }
}

extension PathBytes {
    /// Returns the path with a number before the extension of the name; the path itself for 1.
    fileprivate func numbered(_ number: Int) -> PathBytes {
        guard number > 1 else { return self }
        let name = bytes[folder.bytes.count...]
        // A dot at the beginning does not begin an extension.
        let dot = name.dropFirst().lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        return PathBytes(bytes: bytes[..<dot] + Array(" (\(number))".utf8) + bytes[dot...])
    }

    /// Returns the path with an extension, which replaces one of the given extensions.
    fileprivate func withExtension(
        _ nameExtension: String, replacing known: Set<String>
    ) -> PathBytes {
        let old = known.first { bytes.suffix($0.utf8.count + 1).elementsEqual(".\($0)".utf8) }
        let stem = bytes.dropLast(old.map { $0.utf8.count + 1 } ?? 0)
        return PathBytes(bytes: Array(stem) + Array(".\(nameExtension)".utf8))
    }
}
