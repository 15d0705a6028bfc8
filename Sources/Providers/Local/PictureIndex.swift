internal import ProviderKit
internal import Storage

/// What is known of the pictures folder, in a database that can be made anew at any time.
///
/// Rows of files that are no photos are kept, so that they are not read again at each start.
///
/// The index does no file system work of its own.
struct PictureIndex {
    static let migrations = [
        """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE folder (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL
        );
        CREATE TABLE file (
            id INTEGER PRIMARY KEY,
            folder INTEGER NOT NULL REFERENCES folder (id),
            name BLOB NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            -- 0: no photo
            format INTEGER NOT NULL,
            -- What the feed is ordered by, in nanoseconds since 1970
            position INTEGER NOT NULL,
            -- The number of the last ghost, 0 for none
            moved INTEGER NOT NULL DEFAULT 0,
            UNIQUE (folder, name)
        );
        CREATE INDEX file_by_position ON file (position, id) WHERE format > 0;
        CREATE INDEX file_by_folder ON file (folder, position, id) WHERE format > 0;
        CREATE INDEX file_by_inode ON file (inode);
        -- Where photos stood before they got another position, for walks that are under way
        CREATE TABLE ghost (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
            position INTEGER NOT NULL
        );
        CREATE INDEX ghost_by_file ON ghost (file);
        """,
        // Pages are read from these alone: the rows lie all over the table, each in another block.
        """
        DROP INDEX file_by_position;
        DROP INDEX file_by_folder;
        CREATE INDEX file_by_position ON file (position, id, name, modified, format, moved)
            WHERE format > 0;
        CREATE INDEX file_by_folder ON file (folder, position, id, name, modified, format, moved)
            WHERE format > 0;
        """,
        // What the files themselves tell of the photos: in pages, too, and read in the background.
        """
        -- 1: it was read
        ALTER TABLE file ADD COLUMN examined INTEGER NOT NULL DEFAULT 0;
        -- 0: unknown
        ALTER TABLE file ADD COLUMN width INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE file ADD COLUMN height INTEGER NOT NULL DEFAULT 0;
        -- In seconds since 1970
        ALTER TABLE file ADD COLUMN taken INTEGER;
        DROP INDEX file_by_position;
        DROP INDEX file_by_folder;
        CREATE INDEX file_by_position ON file
            (position, id, name, modified, format, moved, examined, width, height, taken)
            WHERE format > 0;
        CREATE INDEX file_by_folder ON file
            (folder, position, id, name, modified, format, moved, examined, width, height, taken)
            WHERE format > 0;
        CREATE INDEX file_not_examined ON file (position) WHERE format > 0 AND examined = 0;
        """,
        // What files hold that were read for it: liked ones are looked for by size, then by content.
        """
        CREATE INDEX file_by_size ON file (size) WHERE format > 0;
        CREATE TABLE digest (
            file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
            -- The date of the file when it was read
            modified INTEGER NOT NULL,
            value BLOB NOT NULL
        );
        """,
        // An index of an earlier version was complete unless its first scan was interrupted.
        """
        INSERT OR IGNORE INTO meta SELECT 'complete', x'' WHERE EXISTS (SELECT 1 FROM file);
        """,
        // The properties by which an edited file is recognized are stored along with the digest.
        """
        DROP TABLE digest;
        CREATE TABLE content (
            file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
            -- The file that was read
            inode INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            -- Times of creation and of the last change, in nanoseconds since 1970
            birth INTEGER,
            changed INTEGER NOT NULL,
            -- The capture time; NULL if the image has none
            taken TEXT,
            -- SHA-256
            value BLOB NOT NULL
        );
        """,
        // Two files can have the same inode and date one after the other: the size is stored, too.
        """
        DROP TABLE content;
        CREATE TABLE content (
            file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
            -- The file that was read
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            -- Times of creation and of the last change, in nanoseconds since 1970
            birth INTEGER,
            changed INTEGER NOT NULL,
            -- The capture time; NULL if the image has none
            taken TEXT,
            -- SHA-256
            value BLOB NOT NULL
        );
        """,
    ]

    /// A row of `file`.
    struct File {
        let id: Int64
        let folder: Int64
        let name: [UInt8]
        let stamp: FileStamp
        let format: ImageFormat?
        let position: Int64
        /// nil until it was examined.
        let facts: PhotoFacts?
    }

    let database: Database

    init(_ database: Database) { self.database = database }

    // MARK: The folder it is about

    /// What an index was about before it is about a folder.
    enum Beginning {
        case same
        /// Nothing.
        case first
        case other
    }

    /// The absolute path of the pictures folder; nil for a new index.
    var root: [UInt8]? {
        get throws(StorageError) {
            try database.first("SELECT value FROM meta WHERE key = 'root'") { $0.blob(0) }
        }
    }

    /// Empties the index if it is about another folder than `root`.
    func begin(root: [UInt8]) throws(StorageError) -> Beginning {
        let known = try self.root
        guard known != root else { return .same }
        try database.transaction { () throws(StorageError) in
            try database.execute(
                """
                DELETE FROM ghost; DELETE FROM file; DELETE FROM folder;
                DELETE FROM meta WHERE key IN ('complete', 'mounts')
                """)
            try database.query("INSERT OR REPLACE INTO meta VALUES ('root', ?)", [.blob(root)])
        }
        return known == nil ? .first : .other
    }

    /// True if a scan of everything has ended since the index was created.
    var isComplete: Bool {
        get throws(StorageError) {
            try database.first("SELECT 1 FROM meta WHERE key = 'complete'") { _ in true } ?? false
        }
    }

    /// Records that a scan of everything has ended.
    func recordCompleteness() throws(StorageError) {
        try database.query("INSERT OR IGNORE INTO meta VALUES ('complete', x'')")
    }

    /// The mount points that the photos came from in the last scan of everything, as absolute paths.
    var mountPoints: Set<[UInt8]> {
        get throws(StorageError) {
            let value = try database.first("SELECT value FROM meta WHERE key = 'mounts'") {
                $0.blob(0)
            }
            return Set((value ?? []).split(separator: 0).map(Array.init))
        }
    }

    /// Records the mount points that the photos come from.
    func recordMountPoints(_ mountPoints: Set<[UInt8]>) throws(StorageError) {
        guard try mountPoints != self.mountPoints else { return }
        let value = Array(
            mountPoints.sorted { $0.lexicographicallyPrecedes($1) }.joined(separator: [0]))
        try database.query(
            "INSERT OR REPLACE INTO meta VALUES ('mounts', ?)", [.blob(value)])
    }

    // MARK: Folders

    func folderID(_ path: RelativePath) throws(StorageError) -> Int64? {
        try database.first("SELECT id FROM folder WHERE path = ?", [.blob(path.bytes)]) {
            $0.integer(0)
        }
    }

    /// Finds or makes the row of a folder.
    func addFolder(
        _ path: RelativePath, device: Int64, inode: Int64
    ) throws(StorageError) -> Int64 {
        try database.query(
            """
            INSERT INTO folder (path, device, inode) VALUES (?, ?, ?)
            ON CONFLICT (path) DO UPDATE SET device = excluded.device, inode = excluded.inode
            """, [.blob(path.bytes), .integer(device), .integer(inode)])
        return try folderID(path) ?? 0
    }

    func folderPath(_ id: Int64) throws(StorageError) -> RelativePath? {
        try database.first("SELECT path FROM folder WHERE id = ?", [.integer(id)]) {
            RelativePath(bytes: $0.blob(0))
        }
    }

    /// The paths under which a folder of the disk is known.
    func folders(device: Int64, inode: Int64) throws(StorageError) -> [RelativePath] {
        var paths: [RelativePath] = []
        try database.query(
            "SELECT path FROM folder WHERE device = ? AND inode = ?",
            [.integer(device), .integer(inode)]
        ) { row throws(StorageError) in paths.append(RelativePath(bytes: row.blob(0))) }
        return paths
    }

    /// A folder and all that are below it.
    func folders(at path: RelativePath) throws(StorageError) -> [(id: Int64, path: RelativePath)] {
        var folders: [(Int64, RelativePath)] = []
        // What is below begins with the path and "/", and "0" is the byte after that.
        let (after, end): ([UInt8], SQLValue) =
            path == .root ? ([], .null) : (path.bytes + [0x2f], .blob(path.bytes + [0x30]))
        try database.query(
            """
            SELECT id, path FROM folder
            WHERE path = ?1 OR (path >= ?2 AND (?3 IS NULL OR path < ?3))
            """,
            [.blob(path.bytes), .blob(after), end]
        ) { row throws(StorageError) in
            folders.append((row.integer(0), RelativePath(bytes: row.blob(1))))
        }
        return folders
    }

    func deleteFolder(_ id: Int64) throws(StorageError) {
        try database.query(
            "DELETE FROM folder WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM file WHERE folder = ?1)",
            [.integer(id)])
    }

    /// Notes that some folder was left out, since another path leads to it.
    func noteAlias() throws(StorageError) {
        try database.query("INSERT OR IGNORE INTO meta VALUES ('aliases', x'')")
    }

    /// Whether a folder may have been left out.
    var hasAliases: Bool {
        get throws(StorageError) {
            try database.first("SELECT 1 FROM meta WHERE key = 'aliases'") { _ in true } ?? false
        }
    }

    // MARK: Files

    private static let columns =
        "id, folder, name, inode, size, modified, format, position, examined, width, height, taken"

    /// Reads ``File`` from the first columns of a row, which are in the order of its properties.
    static func file(_ row: borrowing Row) -> File {
        File(
            id: row.integer(0), folder: row.integer(1), name: row.blob(2),
            stamp: FileStamp(
                inode: row.integer(3), sizeBytes: row.integer(4), modified: row.integer(5)),
            format: ImageFormat(rawValue: Int(row.integer(6))), position: row.integer(7),
            facts: PhotoFacts(row, at: 8))
    }

    func file(_ id: Int64) throws(StorageError) -> File? {
        try database.first(
            "SELECT \(Self.columns) FROM file WHERE id = ?", [.integer(id)], Self.file)
    }

    func file(folder: Int64, name: [UInt8]) throws(StorageError) -> File? {
        try database.first(
            "SELECT \(Self.columns) FROM file WHERE folder = ? AND name = ?",
            [.integer(folder), .blob(name)], Self.file)
    }

    func files(
        folder: Int64, _ body: (File) throws(StorageError) -> Void
    ) throws(StorageError) {
        try database.query(
            "SELECT \(Self.columns) FROM file WHERE folder = ?", [.integer(folder)]
        ) { row throws(StorageError) in try body(Self.file(row)) }
    }

    /// The files that have a stamp: one that moved, or several links to one.
    func files(stamp: FileStamp) throws(StorageError) -> [File] {
        var files: [File] = []
        try database.query(
            "SELECT \(Self.columns) FROM file WHERE inode = ? AND size = ? AND modified = ?",
            [.integer(stamp.inode), .integer(stamp.sizeBytes), .integer(stamp.modified)]
        ) { row throws(StorageError) in files.append(Self.file(row)) }
        return files
    }

    /// Returns the row that a path gets in an empty index.
    static func firstRow(of path: RelativePath) -> Int64 {
        var hash = StableHash()
        hash.combine(path.bytes)
        return Int64(bitPattern: hash.value)
    }

    /// Adds a file.
    ///
    /// Its id comes from its path, so that it is the same after the index was made anew.
    func insert(
        folder: Int64, path: RelativePath, name: [UInt8], _ stamp: FileStamp, _ format: ImageFormat?
    ) throws(StorageError) {
        var id = Self.firstRow(of: path)
        while try file(id) != nil { id = id &* 31 &+ 1 }
        try database.query(
            """
            INSERT INTO file (id, folder, name, inode, size, modified, format, position)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(id), .integer(folder), .blob(name), .integer(stamp.inode),
                .integer(stamp.sizeBytes), .integer(stamp.modified),
                .integer(format?.rawValue ?? 0), .integer(stamp.modified),
            ])
    }

    /// Notes what a file is now. If that moves it in the feed, a ghost stays where it was.
    func update(
        _ file: File, _ stamp: FileStamp, _ format: ImageFormat?
    ) throws(StorageError) {
        var ghost: Int64?
        if file.format != nil, format != nil, file.position != stamp.modified {
            try database.query(
                "INSERT INTO ghost (file, position) VALUES (?, ?)",
                [.integer(file.id), .integer(file.position)])
            ghost = try lastGhost()
        }
        try database.query(
            """
            UPDATE file SET inode = ?, size = ?, modified = ?, format = ?, position = ?,
                moved = coalesce(?, moved), examined = 0, width = 0, height = 0, taken = NULL
            WHERE id = ?
            """,
            [
                .integer(stamp.inode), .integer(stamp.sizeBytes), .integer(stamp.modified),
                .integer(format?.rawValue ?? 0), .integer(stamp.modified),
                ghost.map { .integer($0) } ?? .null, .integer(file.id),
            ])
    }

    /// Notes that a file lies elsewhere now. It stays the same photo.
    ///
    /// - Returns: The file that was known there, under a name that none has: it may have been moved itself.
    func move(_ file: File, folder: Int64, name: [UInt8]) throws(StorageError) -> File? {
        var displaced: File?
        if let other = try self.file(folder: folder, name: name), other.id != file.id {
            try rename(other.id, folder: folder, name: Array("/\(other.id)".utf8))
            displaced = try self.file(other.id)
        }
        try rename(file.id, folder: folder, name: name)
        return displaced
    }

    /// Deletes what ``move(_:folder:name:)`` has displaced in a scan that came to no end.
    func deleteDisplaced() throws(StorageError) {
        try database.execute("DELETE FROM file WHERE name >= x'2f' AND name < x'30'")
    }

    private func rename(_ id: Int64, folder: Int64, name: [UInt8]) throws(StorageError) {
        try database.query(
            "UPDATE file SET folder = ?, name = ? WHERE id = ?",
            [.integer(folder), .blob(name), .integer(id)])
    }

    func delete(_ id: Int64) throws(StorageError) {
        try database.query("DELETE FROM file WHERE id = ?", [.integer(id)])
    }

    func lastGhost() throws(StorageError) -> Int64 {
        try database.first("SELECT seq FROM sqlite_sequence WHERE name = 'ghost'") { $0.integer(0) }
            ?? 0
    }

    /// The last ghost that was forgotten: a walk that began before it may miss photos.
    func lastForgottenGhost() throws(StorageError) -> Int64 {
        try database.first("SELECT value FROM meta WHERE key = 'forgotten'") { $0.integer(0) } ?? 0
    }

    /// Forgets ghosts that only walks of long ago could ask for.
    func dropOldGhosts() throws(StorageError) {
        let last = try lastGhost() - Self.keptGhosts
        guard last > 0, try last > lastForgottenGhost() + Self.keptGhosts else { return }
        try database.query("DELETE FROM ghost WHERE number <= ?", [.integer(last)])
        try database.query(
            "INSERT OR REPLACE INTO meta VALUES ('forgotten', ?)", [.integer(last)])
    }

    private static let keptGhosts: Int64 = 10_000
}
