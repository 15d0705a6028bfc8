internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import System

/// The properties of a file that show, without reading it, that it is unchanged.
struct FileStamp: Hashable, Sendable {
    let inode: Int64
    let sizeBytes: Int64
    /// The modification time in nanoseconds since 1970.
    let modified: Int64
    /// The time of the last change of the contents or the status, in nanoseconds since 1970.
    var changed: Int64 = 0

    /// The time that is shown, and by which photos without a date are ordered: the modification time, or that of the
    /// last change if the modification time is more than a day after it, or is the beginning of 1970.
    var shownTime: Int64 {
        let isUnknown =
            0..<1_000_000_000 ~= modified || modified > changed + 86_400_000_000_000
        return changed != 0 && isUnknown ? changed : modified
    }

    /// The number of seconds since the modification time, or until then.
    var age: Int64 { abs(Timestamp.now.secondsSince1970 - modified / 1_000_000_000) }

    /// True if more changes may follow, for example because a file is still being written. The time is the default
    /// interval of refreshes.
    var isRecent: Bool { age < 900 }

    /// The stamp without the part that a rename, or a change of the permissions, changes as well.
    var content: FileStamp { FileStamp(inode: inode, sizeBytes: sizeBytes, modified: modified) }

    /// Returns true if the stamp of a file at the same path shows that it is unchanged. Some file systems give other
    /// inode numbers at each mount.
    func isUnchanged(since other: FileStamp) -> Bool {
        sizeBytes == other.sizeBytes && modified == other.modified && changed == other.changed
    }
}

extension FileStatus {
    var stamp: FileStamp {
        FileStamp(
            inode: identity.inode, sizeBytes: byteCount,
            modified: Self.nanoseconds(modified, modifiedNanoseconds),
            changed: Self.nanoseconds(changed, changedNanoseconds))
    }

    /// Returns a time in nanoseconds. The file system may contain any time, and an overflow would end the program.
    private static func nanoseconds(_ seconds: Int64, _ fraction: Int64) -> Int64 {
        let limit = Int64.max / 1_000_000_000 - 100_000
        return min(max(seconds, -limit), limit) * 1_000_000_000 + fraction
    }

    /// The result of looking up a path.
    enum Lookup {
        case found(FileStatus)
        /// There is no file.
        case absent
        /// The file system fails or does not respond, with the `errno`: it is unknown whether there is a file.
        case unavailable(Int32)

        var status: FileStatus? { if case .found(let status) = self { status } else { nil } }

        /// True if the lookup proves that there is no file of this kind at the path.
        func excludes(_ kind: DirectoryListing.Kind) -> Bool {
            switch self {
            case .found(let status): status.kind != kind
            case .absent: true
            case .unavailable: false
            }
        }
    }

    /// Looks up a path. Follows symbolic links.
    static func lookUp(_ path: [UInt8], _ progress: FileProgress) -> Lookup {
        let fault = progress.begin(path)
        guard fault == 0 else { return provesAbsence(fault) ? .absent : .unavailable(fault) }
        if let status = FileStatus(path) { return .found(status) }
        return provesAbsence(errno) ? .absent : .unavailable(errno)
    }

    /// Returns true for errors that prove that there is no file at a path. All others may be caused by a failing disk,
    /// an unreachable server, or changing permissions. `ELOOP` is no proof: a failing automounter causes it, too.
    static func provesAbsence(_ code: Int32) -> Bool { code == ENOENT || code == ENOTDIR }
}

/// Calls `body` with a path as a C string.
func withCPath<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    PathBytes(bytes: path).withCString(body)
}

/// Opens a file for reading.
///
/// - Returns: The descriptor, which the caller closes; negative, with `errno`, if the file cannot be opened.
func openForReading(_ path: [UInt8]) -> Int32 {
    // O_NONBLOCK: the file may have been replaced by a pipe since its status was read.
    withCPath(path) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
}

/// Returns the absolute path of the target of a symbolic link; nil if `path` is not a link.
func readTarget(_ path: [UInt8]) -> [UInt8]? { PathBytes(bytes: path).target?.bytes }

/// Resolves all symbolic links of an absolute path, as far as it exists.
///
/// Source: path_resolution(7): at most 40 links are followed.
///
/// - Parameters:
///   - path: The path.
///   - links: The number of links from which this path results.
/// - Returns: nil if the path cannot be resolved, for example because of too many links.
func resolvedPath(_ path: [UInt8], after links: Int = 0) -> [UInt8]? {
    guard links < 40 else { return nil }
    if let resolved = withCPath(path, { realpath($0, nil) }) {
        defer { free(resolved) }
        return Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
    }
    guard FileStatus.provesAbsence(errno) else { return nil }
    if let target = readTarget(path) { return resolvedPath(target, after: links + 1) }
    let root = [UInt8(ascii: "/")]
    guard let slash = path.lastIndex(of: root[0]) else { return nil }
    let folder = resolvedPath(slash == 0 ? root : Array(path[..<slash]), after: links)
    return folder.map { ($0 == root ? [] : $0) + path[slash...] }
}

extension DirectoryListing {
    /// Returns the names of the entries of some kinds.
    func names(_ kinds: Kind...) -> [[UInt8]] {
        entries.filter { kinds.contains($0.kind) }.map(\.name)
    }
}

extension Collection<UInt8> {
    /// The name with letters of ASCII in lower case.
    var lowercased: [UInt8] { map { 0x41...0x5a ~= $0 ? $0 | 0x20 : $0 } }
}

/// The kind of content of a file, according to its first bytes.
enum FileContent {
    case image(ImageFormat)
    case other
    /// The file cannot be opened or read; its content is unknown.
    case unreadable

    /// The endings of names of files that are not read, because they are no pictures.
    private static let otherEndings = Set(
        """
        3gp aac aae avi csv db doc docx exe flac flv gz htm html ini insv iso js json log lrv m2ts m3u m4a m4v md mid
        mkv mov mp3 mp4 mpeg mpg mts nfo odt ogg opus pdf pp3 ppt pptx py rar rmvb rtf sh sqlite srt svg tar ts txt
        vob wav webm wma wmv xcf xls xlsx xml xmp xz yaml zip zst 7z
        """.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) })

    /// Reads the first bytes of a file.
    static func read(_ path: [UInt8]) -> FileContent {
        let ending = path.suffix(6).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if ending.count > 1, let last = ending.last,
            otherEndings.contains(last.lowercased)
        {
            return .other
        }
        let descriptor = openForReading(path)
        guard descriptor >= 0 else { return .unreadable }
        defer { close(descriptor) }
        // Without this, the system also reads the following bytes, from a server of 256 KB.
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM)
        let file = FileBytes(descriptor: descriptor)
        guard file.bytes(at: 0, min(file.count, ImageFormat.prefixBytes)) != nil else {
            return .unreadable
        }
        // A raw file without a preview cannot be shown.
        let format = ImageFormat(file)
        let isShown = format != .raw || ImageHeader(file, format: .raw) != nil
        return format.flatMap { isShown ? .image($0) : nil } ?? .other
    }
}
