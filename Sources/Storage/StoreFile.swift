internal import Glibc
internal import System

/// The file of a store, before SQLite opens it.
struct StoreFile {
    /// The state of a file that SQLite may open.
    enum State {
        /// There is no file, or an empty one.
        case new
        case present
        /// The file has no complete header, or is empty or missing beside the journal of a transaction.
        case lost
    }

    /// The path, or the target of a link to a regular file.
    let path: String
    private let name: String
    private static let headerBytes = 100

    init(_ path: String) {
        name = path
        let target = realpath(path, nil).map { target in
            defer { free(target) }
            return String(cString: target)
        }
        self.path = target.flatMap { FileStatus($0)?.kind == .file ? $0 : nil } ?? path
    }

    /// The folder of the path, also if that is a link.
    var folder: String { Self.folder(of: name) }
    private var journal: String { path + "-journal" }

    private static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// Reads the state.
    ///
    /// - Throws: ``StorageError/cannotOpen(_:_:)`` for anything but a readable, regular file, because opening a FIFO or a
    ///   device may block; ``StorageError/readOnly(_:_:)`` for a file that this user may only read.
    func state() throws(StorageError) -> State {
        let status = try Self.status(path)
        let journalBytes = try Self.status(journal)?.st_size
        for suffix in ["-wal", "-shm"] { _ = try Self.status(path + suffix) }
        guard let status else { return journalBytes ?? 0 > 0 ? .lost : .new }
        guard status.st_mode & S_IRUSR != 0 else { throw .cannotOpen(path, EACCES) }
        guard status.st_uid == geteuid() else {
            throw .readOnly(path, "it belongs to another user")
        }
        guard status.st_mode & S_IWUSR != 0 else {
            throw .readOnly(path, String(cString: strerror(EACCES)))
        }
        // SQLite would take a file of one byte for an empty one.
        guard status.st_size < Self.headerBytes else { return .present }
        return status.st_size == 0 && journalBytes == nil ? .new : .lost
    }

    /// The path of the journal of a transaction that was not completed; nil if there is none. The file may have a part of
    /// the transaction.
    var unfinishedJournal: String? {
        guard let status = FileStatus(journal), status.kind == .file else { return nil }
        return status.byteCount > 0 ? journal : nil
    }

    /// True for a regular file with a log of transactions.
    var hasLog: Bool {
        [path, path + "-wal"].allSatisfy { FileStatus($0)?.kind == .file && access($0, R_OK) == 0 }
    }

    private static func status(_ path: String) throws(StorageError) -> stat? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno != ENOENT else { return nil }
            throw .cannotOpen(path, errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return status
        case S_IFLNK: throw .cannotOpen(path, "it is a link, and not to a regular file")
        default: throw .cannotOpen(path, "it is not a regular file")
        }
    }

    /// Reads the contents of a regular file.
    ///
    /// - Parameter maximumBytes: The largest accepted size.
    /// - Returns: nil if the file cannot be read.
    func bytes(maximumBytes: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
            status.st_mode & (S_IFMT | S_IRUSR) == S_IFREG | S_IRUSR,
            status.st_size <= maximumBytes
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(status.st_size))
        var block = [UInt8](repeating: 0, count: 4096)
        while bytes.count < status.st_size {
            let count = pread(descriptor, &block, block.count, off_t(bytes.count))
            if count < 0, errno == EINTR { continue }
            // A block that cannot be read is empty.
            bytes += count > 0 ? Array(block.prefix(count)) : block.map { _ in 0 }
        }
        return bytes
    }

    /// Returns true if the file contains an ID, such as that of an account, and not only as a part of a longer one.
    func contains(_ id: String) -> Bool {
        guard let bytes = bytes(maximumBytes: 1 << 30) else { return false }
        return bytes.ranges(of: Array(id.utf8)).contains { range in
            let isStart = range.lowerBound == 0 || !Self.isOfID(bytes[range.lowerBound - 1])
            let isEnd = range.upperBound == bytes.count || !Self.isOfID(bytes[range.upperBound])
            return isStart && isEnd || Self.endsColumn(range, isStart, bytes)
        }
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns true if a range is the end of a text in a row, whose columns follow each other without a separator.
    ///
    /// Source: sqlite.org/fileformat.html, section 2.1.
    ///
    /// - Parameters:
    ///   - range: The range.
    ///   - isStart: True if the text may begin before the range.
    ///   - bytes: The file.
    /// - Returns: True for the end of a text.
    private static func endsColumn(
        _ range: Range<Int>, _ isStart: Bool, _ bytes: [UInt8]
    ) -> Bool {
        // The header of a row is short, and so are the columns before an ID.
        (max(0, range.lowerBound - 64)..<range.lowerBound).contains { header in
            let body = header + Int(bytes[header])
            guard 2...16 ~= bytes[header], body <= range.lowerBound else { return false }
            var (next, start) = (header + 1, body)
            while next < body, start <= range.lowerBound {
                var type = 0
                repeat {
                    type = (type << 7 | Int(bytes[next] & 0x7f)) & 0xffff_ffff
                    next += 1
                } while next < body && bytes[next - 1] >= 0x80
                let numbers = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0]
                let end = start + (type < 12 ? numbers[type] : type / 2 - 6)
                if end == range.upperBound, type > 12, type % 2 == 1 {
                    return isStart || start == range.lowerBound
                }
                start = end
            }
            return false
        }
    }

    // MARK: Changes

    /// Deletes the file and those that SQLite has created for it. The target of a link stays, because it may be any
    /// file of the user. A folder is deleted only if it is empty.
    func delete() {
        for suffix in ["", "-journal", "-wal", "-shm"] where unlink(name + suffix) != 0 {
            if errno == EISDIR { rmdir(name + suffix) }
        }
    }

    /// Returns the file beside the path in which new contents are written, and deletes an earlier one.
    ///
    /// - Throws: ``StorageError/cannotOpen(_:_:)`` if the folder cannot be written, for which SQLite has another reason.
    func replacement() throws(StorageError) -> StoreFile {
        let new = StoreFile("\(path).new")
        guard access(new.folder, W_OK) == 0 else { throw .cannotOpen(path, errno) }
        new.delete()
        return new
    }

    /// Gives the file and its journal a new name.
    ///
    /// - Parameters:
    ///   - kind: The reason, `damaged` or `newer`.
    ///   - replacement: The path of the file that takes the place.
    /// - Returns: The new path.
    /// - Throws: ``StorageError``; then the file has its old name.
    func setAside(_ kind: String, for replacement: String) throws(StorageError) -> String {
        let number = (1..<1000).first { number in
            ["", "-journal"].allSatisfy { access("\(path).\(kind)-\(number)\($0)", F_OK) != 0 }
        }
        guard let number else { throw .cannotOpen(path, "there are too many copies of it") }
        let name = "\(path).\(kind)-\(number)"
        // With a second link, there is a file at the path at each moment.
        let isLinked = link(path, name) == 0 || rename(path, name) == 0 || errno == ENOENT
        // The new file must not have the journal of this one, which may help to repair this one.
        guard isLinked, rename(journal, name + "-journal") == 0 || errno == ENOENT else {
            throw .cannotOpen(name, errno)
        }
        try take(replacement)
        return name
    }

    /// Moves a file to the path, and waits until its name is on the disk.
    func take(_ replacement: String) throws(StorageError) {
        guard rename(replacement, path) == 0 else { throw .cannotOpen(path, errno) }
        // SQLite waits for the names in the folder only with journals.
        _ = Self.sync(Self.folder(of: path), O_RDONLY | O_DIRECTORY)
    }

    /// Waits until the contents are on the disk.
    func sync() throws(StorageError) {
        guard Self.sync(path, O_RDONLY) else { throw .cannotOpen(path, errno) }
    }

    private static func sync(_ path: String, _ flags: Int32) -> Bool {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }

    /// The files that were set aside, beside the path and beside the target of a link.
    var copies: [String] {
        Set([path, name]).flatMap { path in
            let folder = Self.folder(of: path)
            let names = (try? DirectoryListing(folder))?.names ?? []
            return names.map { "\(folder)/\($0)" }
                .filter { $0.hasPrefix("\(path).damaged-") || $0.hasPrefix("\(path).newer-") }
        }
    }
}
