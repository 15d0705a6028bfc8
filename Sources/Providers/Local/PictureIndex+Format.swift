internal import ImageMetadata
internal import ProviderKit
internal import Storage

extension PictureIndex {
    /// The tables of the index.
    ///
    /// Rows of files are stored in the order in which they were added, the newest photos first, and not by their IDs:
    /// each transaction would write as many pages as it has rows. Pages of photos are read from the indexes only.
    static let format = TableFormat(
        "photos", version: 2,
        sql: """
                CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
                CREATE TABLE folder (
                    id INTEGER PRIMARY KEY,
                    path BLOB NOT NULL UNIQUE,
                    device INTEGER NOT NULL,
                    inode INTEGER NOT NULL,
                    -- The modification time when the folder was read, in nanoseconds since 1970
                    modified INTEGER NOT NULL
                );
                CREATE INDEX folder_by_inode ON folder (inode);
                -- Rows are stored in the order in which they were added, the newest photos first, and not by their IDs: each
                -- transaction would write as many pages as it has rows.
                CREATE TABLE file (
                    id INTEGER NOT NULL UNIQUE,
                    folder INTEGER NOT NULL REFERENCES folder (id),
                    name BLOB NOT NULL,
                    inode INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    -- The times of the last changes of the contents and of the status, in nanoseconds since 1970
                    modified INTEGER NOT NULL,
                    changed INTEGER NOT NULL,
                    -- 0: not a photo
                    format INTEGER NOT NULL,
                    -- The sort key of the feed, in nanoseconds since 1970
                    position INTEGER NOT NULL,
                    -- The number of the last row in former, 0 for none
                    moved INTEGER NOT NULL DEFAULT 0,
                    -- 0: the file was not read
                    examined INTEGER NOT NULL DEFAULT 0,
                    -- 0: unknown
                    width INTEGER NOT NULL DEFAULT 0,
                    height INTEGER NOT NULL DEFAULT 0,
                    -- The time of capture in seconds since 1970
                    taken INTEGER,
                    camera TEXT,
                    -- In degrees of WGS 84
                    latitude REAL,
                    longitude REAL,
                    -- The date of capture on the clock of the camera: the year, and the month times 100 plus the day
                    year INTEGER,
                    day INTEGER,
                    lens TEXT,
                    -- In seconds
                    exposure REAL,
                    aperture REAL,
                    iso INTEGER,
                    -- 1: the image has several frames
                    animated INTEGER NOT NULL DEFAULT 0,
                    UNIQUE (folder, name)
                );
                -- Pages are read from these indexes only: the rows of a page are scattered over the table, each in another
                -- block.
                CREATE INDEX file_by_position ON file (
                    position, id, name, modified, changed, format, moved, folder, \(ImageFacts.columns)
                ) WHERE format > 0;
                CREATE INDEX file_by_folder ON file (
                    folder, position, id, name, modified, changed, format, moved, \(ImageFacts.columns)
                ) WHERE format > 0;
                CREATE INDEX file_by_inode ON file (inode);
                CREATE INDEX file_by_size ON file (size) WHERE format > 0;
                CREATE INDEX file_by_day ON file (day, taken, id, year, moved)
                    WHERE format > 0 AND day IS NOT NULL;
                CREATE INDEX file_not_examined ON file (position)
                    WHERE format > 0 AND examined < \(PictureIndex.metadataVersion);
                -- The positions and dates of photos before changes, for walks that began before: a position was valid from the
                -- change with the number born until that of the row
                CREATE TABLE former (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
                    born INTEGER NOT NULL,
                    position INTEGER NOT NULL,
                    taken INTEGER,
                    year INTEGER,
                    day INTEGER
                );
                CREATE INDEX former_by_file ON former (file);
                CREATE INDEX former_by_position ON former (position, file, born);
                CREATE INDEX former_by_day ON former (day, taken, file, year, born) WHERE day IS NOT NULL;
                -- Photos that were added or have changed, and were not compared with the marked ones that are missing
                CREATE TABLE uncompared (file INTEGER NOT NULL);
            """)
}

extension ProviderError {
    /// Converts the error of a database or of a private folder.
    init(_ error: StorageError) {
        self = error == .full ? .storageFull : .failed(error.message)
    }
}
