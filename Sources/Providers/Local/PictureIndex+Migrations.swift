/// The formats of the index in the releases.
extension PictureIndex {
    static let migrations: KeyValuePairs = [
        4: """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE folder (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL
        );
        CREATE TABLE file (
            id INTEGER PRIMARY KEY, folder INTEGER, name BLOB, inode INTEGER, size INTEGER,
            modified INTEGER, format INTEGER, position INTEGER, moved INTEGER, examined INTEGER,
            width INTEGER, height INTEGER, taken INTEGER
        );
        -- Former positions of photos whose position has changed, for walks in progress
        CREATE TABLE ghost (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
            position INTEGER NOT NULL
        );
        CREATE INDEX ghost_by_file ON ghost (file);
        """,
        // Rows are stored in the order in which they were added, the newest photos first, and not by their IDs: each
        // transaction would write as many pages as it has rows. The metadata that is known remains in use until the
        // files were read again. An index of the earlier format is complete, unless its first scan was interrupted.
        11: """
        CREATE TABLE ordered (
            id INTEGER NOT NULL UNIQUE,
            folder INTEGER NOT NULL REFERENCES folder (id),
            name BLOB NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            -- 0: not a photo
            format INTEGER NOT NULL,
            -- The sort key of the feed, in nanoseconds since 1970
            position INTEGER NOT NULL,
            -- The number of the last row in ghost, 0 for none
            moved INTEGER NOT NULL DEFAULT 0,
            -- The version of the metadata that was read; 0 before the file was read
            examined INTEGER NOT NULL DEFAULT 0,
            -- 0: unknown
            width INTEGER NOT NULL DEFAULT 0,
            height INTEGER NOT NULL DEFAULT 0,
            -- In seconds since 1970
            taken INTEGER,
            camera TEXT,
            -- In degrees of WGS 84
            latitude REAL,
            longitude REAL,
            -- The date of capture on the clock of the camera: the year, and the month times 100 plus the day
            year INTEGER,
            day INTEGER,
            -- The number of the last row in ghost with a former date of capture, 0 for none
            redated INTEGER NOT NULL DEFAULT 0,
            lens TEXT,
            -- In seconds
            exposure REAL,
            aperture REAL,
            iso INTEGER,
            -- 1: the image has several frames
            animated INTEGER NOT NULL DEFAULT 0,
            UNIQUE (folder, name)
        );
        INSERT INTO ordered (id, folder, name, inode, size, modified, format, position, moved, examined,
            width, height, taken) SELECT * FROM file ORDER BY position DESC;
        INSERT OR IGNORE INTO meta SELECT 'complete', x'' WHERE EXISTS (SELECT 1 FROM file);
        -- The rows in ghost are deleted with the table, so that walks in progress begin again.
        INSERT OR REPLACE INTO meta SELECT 'forgotten', seq FROM sqlite_sequence WHERE name = 'ghost';
        DROP TABLE IF EXISTS digest;
        DROP TABLE file;
        ALTER TABLE ordered RENAME TO file;
        CREATE INDEX file_by_position ON file (
            position, id, name, modified, format, moved, folder, examined, width, height, taken,
            camera, latitude, longitude, lens, exposure, aperture, iso, animated
        ) WHERE format > 0;
        CREATE INDEX file_by_folder ON file (
            folder, position, id, name, modified, format, moved, examined, width, height, taken,
            camera, latitude, longitude, lens, exposure, aperture, iso, animated
        ) WHERE format > 0;
        CREATE INDEX file_by_inode ON file (inode);
        CREATE INDEX file_by_size ON file (size) WHERE format > 0;
        CREATE INDEX file_by_day ON file (day, taken, id, year, redated)
            WHERE format > 0 AND day IS NOT NULL;
        CREATE INDEX file_not_examined ON file (position) WHERE format > 0 AND examined < 3;
        -- If the day is not NULL: a former date of capture, with the former time of capture as position
        ALTER TABLE ghost ADD COLUMN year INTEGER;
        ALTER TABLE ghost ADD COLUMN day INTEGER;
        -- The contents of files that were read to find marked files
        CREATE TABLE content (
            file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
            -- The file that was read
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            -- The time of creation, in nanoseconds since 1970
            birth INTEGER,
            -- The capture time; NULL if the image has none
            taken TEXT,
            -- SHA-256
            value BLOB NOT NULL
        );
        """,
    ]
}
