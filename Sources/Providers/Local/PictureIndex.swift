internal import ImageMetadata
internal import ProviderKit
internal import Storage
internal import System

/// The database of the files in the pictures folder. It can be rebuilt at any time.
///
/// It also has rows for files that are not photos, so that they are not read again at each start.
///
/// The index makes no file system calls.
struct PictureIndex {
    /// A row of `file`.
    struct File {
        let id: Int64
        /// The row of the folder.
        let folderID: Int64
        let name: [UInt8]
        let stamp: FileStamp
        let format: ImageFormat?
        /// The sort key of the source: the time of capture in seconds for ``Selection/memories(_:)``, otherwise
        /// nanoseconds.
        let position: Int64
        /// nil until the file was examined.
        let facts: ImageFacts?
        /// True if the metadata was read completely.
        let isExamined: Bool
        /// The path of the folder, relative to the pictures folder.
        var folder: RelativePath

        var path: RelativePath { folder.appending(name) }
    }

    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: Pictures folder

    /// Empties the index if it belongs to another folder than `root`, and orders it.
    ///
    /// - Returns: False if it was new or emptied.
    func begin(root: [UInt8], _ order: Order) throws(StorageError) -> Bool {
        try setOrder(order)
        guard try setting("root") != root else { return true }
        try database.transaction { () throws(StorageError) in
            try database.execute(
                """
                DELETE FROM former; DELETE FROM file; DELETE FROM folder;
                DELETE FROM meta WHERE key IN ('complete', 'mounts', 'aliases')
                """)
            try set("root", .blob(root))
        }
        return false
    }

    private func setting(_ key: String) throws(StorageError) -> [UInt8]? {
        try database.first("SELECT value FROM meta WHERE key = ?", [.text(key)]) { $0.blob(0) }
    }

    private func set(_ key: String, _ value: SQLValue) throws(StorageError) {
        try database.query("INSERT OR REPLACE INTO meta VALUES (?, ?)", [.text(key), value])
    }

    /// The sort key of all photos and albums. Raw values are stored.
    enum Order: String, Sendable {
        /// The capture time, or the modification time of a photo without one.
        case taken
        case modified
    }

    private var order: Order {
        get throws(StorageError) {
            try setting("order").flatMap { Order(rawValue: String(decoding: $0, as: UTF8.self)) }
                ?? .taken
        }
    }

    /// Orders the photos again. Walks in progress begin again.
    func setOrder(_ order: Order) throws(StorageError) {
        guard try order != self.order else { return }
        try database.transaction { () throws(StorageError) in
            try set("order", .blob(Array(order.rawValue.utf8)))
            let key =
                order == .taken ? "coalesce(taken * 1000000000, \(Self.shownTime))" : Self.shownTime
            try database.execute(
                """
                UPDATE file SET position = \(key);
                INSERT INTO former (file, born, position) SELECT id, 0, 0 FROM file LIMIT 1;
                DELETE FROM former;
                """)
            try set("forgotten", .integer(try lastFormerPosition()))
        }
    }

    /// Returns the sort key of a file. `taken` is the capture time in seconds since 1970.
    func position(_ taken: Int64?, _ stamp: FileStamp) throws(StorageError) -> Int64 {
        guard let taken, try order == .taken else { return stamp.shownTime }
        let (position, isTooLarge) = taken.multipliedReportingOverflow(by: 1_000_000_000)
        guard !isTooLarge else { throw .damaged(database.path) }
        return position
    }

    /// True if a scan of everything has ended since the index was created.
    var isComplete: Bool {
        get throws(StorageError) {
            try database.exists("SELECT 1 FROM meta WHERE key = 'complete'")
        }
    }

    /// Records that a scan of everything has ended.
    func recordCompleteness() throws(StorageError) {
        try database.query("INSERT OR IGNORE INTO meta VALUES ('complete', x'')")
    }

    /// The mount points that the photos came from in the last scan of everything, as absolute paths.
    var mountPoints: Set<[UInt8]> {
        get throws(StorageError) { Set(try paths("mounts")) }
    }

    /// Records the mount points that the photos come from.
    func recordMountPoints(_ mountPoints: Set<[UInt8]>) throws(StorageError) {
        if try mountPoints != self.mountPoints { try setPaths("mounts", Array(mountPoints)) }
    }

    // MARK: Folders

    func folderID(_ path: RelativePath) throws(StorageError) -> Int64? {
        try database.integer("SELECT id FROM folder WHERE path = ?", [.blob(path.bytes)])
    }

    /// Finds or creates the row of a folder.
    func addFolder(_ path: RelativePath, _ status: FileStatus) throws(StorageError) -> Int64 {
        try database.query(
            """
            INSERT INTO folder (path, device, inode, modified) VALUES (?, ?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET device = excluded.device, inode = excluded.inode,
                modified = excluded.modified
            """,
            [
                .blob(path.bytes), .integer(status.identity.device),
                .integer(status.identity.inode),
                .integer(status.stamp.isRecent ? Self.unknownTime : status.stamp.modified),
            ])
        return try folderID(path) ?? 0
    }

    /// Records that the modification time of a folder does not show whether its files have changed.
    func forgetTime(ofFolder id: Int64) throws(StorageError) {
        try database.query(
            "UPDATE folder SET modified = ? WHERE id = ?",
            [.integer(Self.unknownTime), .integer(id)])
    }

    /// The modification time of a folder that was read while it or its files were changing. No folder has it.
    private static let unknownTime: Int64 = -1

    /// Returns the folders, with their modification times when they were read.
    func foldersAndTimes() throws(StorageError)
        -> [(path: RelativePath, device: Int64, modified: Int64)]
    {
        try database.all("SELECT path, device, modified FROM folder ORDER BY path") {
            (RelativePath(bytes: $0.blob(0)), $0.anyInteger(1), $0.integer(2))
        }
    }

    func folderPath(_ id: Int64) throws(StorageError) -> RelativePath? {
        try database.first("SELECT path FROM folder WHERE id = ?", [.integer(id)]) {
            RelativePath(bytes: $0.blob(0))
        }
    }

    /// The query of the paths of a folder on the disk. It is made for each folder of a scan.
    static let foldersQuery = "SELECT path FROM folder WHERE device = ? AND inode = ?"

    /// Returns the paths of a folder on the disk, identified by device and inode.
    func folders(_ identity: FileIdentity) throws(StorageError) -> [RelativePath] {
        try database.all(
            Self.foldersQuery,
            [.integer(identity.device), .integer(identity.inode)]
        ) { RelativePath(bytes: $0.blob(0)) }
    }

    /// Returns a folder and all folders below it.
    func folders(at path: RelativePath) throws(StorageError) -> [(id: Int64, path: RelativePath)] {
        // Paths below it begin with the path and "/" (0x2f). The byte after "/" is "0" (0x30).
        let (after, end): ([UInt8], SQLValue) =
            path == .root ? ([], .null) : (path.bytes + [0x2f], .blob(path.bytes + [0x30]))
        return try database.all(
            """
            SELECT id, path FROM folder
            WHERE path = ?1 OR (path >= ?2 AND (?3 IS NULL OR path < ?3))
            """,
            [.blob(path.bytes), .blob(after), end]
        ) { ($0.integer(0), RelativePath(bytes: $0.blob(1))) }
    }

    func deleteFolder(_ id: Int64) throws(StorageError) {
        try database.query(
            "DELETE FROM folder WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM file WHERE folder = ?1)",
            [.integer(id)])
    }

    /// The folders that were omitted, because another path leads to them.
    var aliases: Set<RelativePath> {
        get throws(StorageError) { Set(try paths("aliases").map(RelativePath.init(bytes:))) }
    }

    func setAliases(_ aliases: Set<RelativePath>) throws(StorageError) {
        try setPaths("aliases", aliases.map(\.bytes))
    }

    private func paths(_ key: String) throws(StorageError) -> [[UInt8]] {
        try (setting(key) ?? []).split(separator: 0).map(Array.init)
    }

    private func setPaths(_ key: String, _ paths: [[UInt8]]) throws(StorageError) {
        let value = Array(
            paths.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [0]))
        try set(key, .blob(value))
    }

    // MARK: Files

    static let columns =
        "id, folder, name, inode, size, modified, changed, format, position, \(ImageFacts.columns)"
    private static let files =
        "SELECT \(columns), (SELECT path FROM folder WHERE id = file.folder) FROM file"

    /// Reads a file from a row, whose columns are in the order of the properties.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - folder: The path of the folder; nil if the row contains it.
    /// - Returns: The file.
    static func file(_ row: borrowing Row, in folder: RelativePath? = nil) -> File {
        File(
            id: row.anyInteger(0), folderID: row.integer(1), name: row.blob(2),
            stamp: FileStamp(
                inode: row.anyInteger(3), sizeBytes: row.anyInteger(4), modified: row.integer(5),
                changed: row.integer(6)),
            format: ImageFormat(rawValue: Int(row.integer(7))), position: row.integer(8),
            facts: ImageFacts(row, at: 9), isExamined: row.integer(9) == Self.metadataVersion,
            folder: folder ?? RelativePath(bytes: row.blob(21)))
    }

    /// Returns the files that meet a condition, which may contain an order.
    func files(_ condition: String, _ values: [SQLValue] = []) throws(StorageError) -> [File] {
        try database.all("\(Self.files) WHERE \(condition)", values) { Self.file($0) }
    }

    func file(_ id: Int64) throws(StorageError) -> File? {
        try files("id = ?", [.integer(id)]).first
    }

    /// Returns a file that is a photo.
    func photo(_ id: Int64) throws(StorageError) -> File? {
        guard let file = try file(id), file.format != nil else { return nil }
        return file
    }

    func file(folder: Int64, name: [UInt8]) throws(StorageError) -> File? {
        try files("folder = ? AND name = ?", [.integer(folder), .blob(name)]).first
    }

    /// Returns the row of the folder of a file, and the file; nil if the index does not contain the folder.
    func file(at path: RelativePath) throws(StorageError) -> (folder: Int64, file: File?)? {
        guard let (folder, name) = path.split, let id = try folderID(folder) else { return nil }
        return (id, try file(folder: id, name: name))
    }

    /// Calls `body` for each file in a folder, which is in a row and has a path.
    func files(
        folder: Int64, _ path: RelativePath, _ body: (File) throws(StorageError) -> Void
    ) throws(StorageError) {
        try database.query(
            "SELECT \(Self.columns) FROM file WHERE folder = ?", [.integer(folder)]
        ) { row throws(StorageError) in try body(Self.file(row, in: path)) }
    }

    /// Returns the files with a stamp, except for its time of change: a moved file, or several links to one file.
    func files(stamp: FileStamp) throws(StorageError) -> [File] {
        try files(
            "inode = ? AND size = ? AND modified = ?",
            [.integer(stamp.inode), .integer(stamp.sizeBytes), .integer(stamp.modified)])
    }

    /// Returns the photos of a size in bytes, by path.
    func photos(size: Int64) throws(StorageError) -> [File] {
        try files("size = ? AND format > 0 ORDER BY folder, name", [.integer(size)])
    }

    /// Returns the photos of the calls of ``recordUncompared(_:)`` since the last one of ``forgetUncompared()``, by path.
    func uncompared() throws(StorageError) -> [File] {
        try files("id IN (SELECT file FROM uncompared) AND format > 0 ORDER BY folder, name")
    }

    func recordUncompared(_ id: Int64) throws(StorageError) {
        try database.query("INSERT INTO uncompared (file) VALUES (?)", [.integer(id)])
    }

    func forgetUncompared() throws(StorageError) { try database.query("DELETE FROM uncompared") }

    /// Returns the row of a path in an empty index.
    static func firstRow(of path: RelativePath) -> Int64 {
        Int64(bitPattern: StableHash(of: path.bytes).value)
    }

    /// Returns an unused row for a file. It is computed from the path, so that it is the same after the index was rebuilt.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - isReserved: Returns true for the ID of a marked photo.
    /// - Returns: The row.
    /// - Throws: `StorageError`.
    func freeRow(of path: RelativePath, isReserved: (Int64) -> Bool) throws(StorageError) -> Int64 {
        var row = Self.firstRow(of: path)
        while try isReserved(row) ? true : file(row) != nil { row = row &* 31 &+ 1 }
        return row
    }

    /// Adds a file in a row of its own.
    func insert(
        _ row: Int64, folder: Int64, name: [UInt8], _ stamp: FileStamp, _ format: ImageFormat?
    ) throws(StorageError) {
        try database.query(
            """
            INSERT INTO file (id, folder, name, inode, size, modified, changed, format, position)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(row), .integer(folder), .blob(name), .integer(stamp.inode),
                .integer(stamp.sizeBytes), .integer(stamp.modified), .integer(stamp.changed),
                .integer(format?.rawValue ?? 0), .integer(stamp.shownTime),
            ])
    }

    /// Stores the stamp of a file whose contents are unchanged.
    func setStamp(_ stamp: FileStamp, of id: Int64) throws(StorageError) {
        try database.query(
            "UPDATE file SET inode = ?, changed = ? WHERE id = ?",
            [.integer(stamp.inode), .integer(stamp.changed), .integer(id)])
    }

    /// Stores the new state of a file.
    ///
    /// A photo keeps its date of capture until it is read again, because most changes of a file do not change the date.
    ///
    /// - Returns: The new position of the file.
    func update(
        _ file: File, _ stamp: FileStamp, _ format: ImageFormat?
    ) throws(StorageError) -> Int64 {
        let isPhotoStill = file.format != nil && format != nil
        let taken = try database.integer(
            "SELECT taken FROM file WHERE id = ? AND taken IS NOT NULL", [.integer(file.id)])
        let position = try position(isPhotoStill ? taken : nil, stamp)
        if isPhotoStill, position != file.position { try recordFormerPosition(of: file.id) }
        try database.query(
            """
            UPDATE file SET inode = ?, size = ?, modified = ?, changed = ?, format = ?, position = ?,
                examined = 0, width = 0, height = 0, camera = NULL, latitude = NULL, longitude = NULL,
                lens = NULL, exposure = NULL, aperture = NULL, iso = NULL, animated = 0
                \(isPhotoStill ? "" : ", taken = NULL, year = NULL, day = NULL")
            WHERE id = ?
            """,
            [
                .integer(stamp.inode), .integer(stamp.sizeBytes), .integer(stamp.modified),
                .integer(stamp.changed), .integer(format?.rawValue ?? 0), .integer(position),
                .integer(file.id),
            ])
        return position
    }

    /// Stores the new location of a file. The photo keeps its ID.
    ///
    /// - Returns: The file that was at that location. It may have been moved as well, so it is renamed to a name that
    ///   no file can have.
    func move(_ file: File, folder: Int64, name: [UInt8]) throws(StorageError) -> File? {
        var displaced: File?
        if let other = try self.file(folder: folder, name: name), other.id != file.id {
            try displace(other)
            displaced = try self.file(other.id)
        }
        try rename(file.id, folder: folder, name: name)
        return displaced
    }

    /// Renames a file whose name another file gets, to a name that no file can have.
    func displace(_ file: File) throws(StorageError) {
        try rename(file.id, folder: file.folderID, name: Array("/\(file.id)".utf8))
    }

    /// Returns the files that ``displace(_:)`` renamed in a scan that was interrupted.
    func displaced() throws(StorageError) -> [File] { try files("name >= x'2f' AND name < x'30'") }

    /// Stores the new location of a file, where no other one is.
    func rename(_ id: Int64, folder: Int64, name: [UInt8]) throws(StorageError) {
        try database.query(
            "UPDATE file SET folder = ?, name = ? WHERE id = ?",
            [.integer(folder), .blob(name), .integer(id)])
    }

    func delete(_ id: Int64) throws(StorageError) {
        try database.query("DELETE FROM file WHERE id = ?", [.integer(id)])
    }

    // MARK: Former positions

    /// Stores the present position of a photo, which changes, for walks that have begun: they return the photo there.
    func recordFormerPosition(of id: Int64) throws(StorageError) {
        try database.query(
            """
            INSERT INTO former (file, born, position, taken, year, day)
            SELECT id, moved, position, taken, year, day FROM file WHERE id = ?
            """, [.integer(id)])
        try database.query(
            "UPDATE file SET moved = ? WHERE id = ?",
            [.integer(try lastFormerPosition()), .integer(id)])
    }

    func lastFormerPosition() throws(StorageError) -> Int64 {
        try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'former'") ?? 0
    }

    /// Returns the number of the last deleted former position: a walk that began before it may miss photos.
    func lastDeletedFormerPosition() throws(StorageError) -> Int64 {
        try database.integer("SELECT value FROM meta WHERE key = 'forgotten'") ?? 0
    }

    /// Deletes former positions that only old walks need.
    func deleteOldFormerPositions() throws(StorageError) {
        let last = try lastFormerPosition() - Self.storedFormerPositions
        guard last > 0, try last > lastDeletedFormerPosition() + Self.storedFormerPositions else {
            return
        }
        try database.query("DELETE FROM former WHERE number <= ?", [.integer(last)])
        try set("forgotten", .integer(last))
    }

    private static let storedFormerPositions: Int64 = 50_000
}
