/// The migrations of the database schema of the index.
extension PictureIndex {
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
            -- 0: not a photo
            format INTEGER NOT NULL,
            -- The sort key of the feed, in nanoseconds since 1970
            position INTEGER NOT NULL,
            -- The number of the last row in ghost, 0 for none
            moved INTEGER NOT NULL DEFAULT 0,
            UNIQUE (folder, name)
        );
        CREATE INDEX file_by_position ON file (position, id) WHERE format > 0;
        CREATE INDEX file_by_folder ON file (folder, position, id) WHERE format > 0;
        CREATE INDEX file_by_inode ON file (inode);
        -- Former positions of photos whose position has changed, for walks in progress
        CREATE TABLE ghost (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            file INTEGER NOT NULL REFERENCES file (id) ON DELETE CASCADE,
            position INTEGER NOT NULL
        );
        CREATE INDEX ghost_by_file ON ghost (file);
        """,
        // Pages are read from these indexes only: the rows of a page are scattered over the table, each in another
        // block.
        """
        DROP INDEX file_by_position;
        DROP INDEX file_by_folder;
        CREATE INDEX file_by_position ON file (position, id, name, modified, format, moved)
            WHERE format > 0;
        CREATE INDEX file_by_folder ON file (folder, position, id, name, modified, format, moved)
            WHERE format > 0;
        """,
        // Metadata of the photos. It is part of pages, and read in the background.
        """
        -- 1: the file was read
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
        // The contents of files that were read to find liked files, which are searched by size, then by content.
        """
        CREATE INDEX file_by_size ON file (size) WHERE format > 0;
        CREATE TABLE digest (
            file INTEGER PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
            -- The modification time of the file when it was read
            modified INTEGER NOT NULL,
            value BLOB NOT NULL
        );
        """,
        // An index of an earlier version is complete, unless its first scan was interrupted.
        """
        INSERT OR IGNORE INTO meta SELECT 'complete', x'' WHERE EXISTS (SELECT 1 FROM file);
        """,
        // The properties by which an edited file is recognized are stored with the digest.
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
        // Two successive files can have the same inode and date, so the size is stored, too.
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
        // The camera, the location and the date of capture. The metadata that is known remains in use until the files
        // were read again.
        """
        -- examined: 1: the file was read without the following metadata, 2: with it
        ALTER TABLE file ADD COLUMN camera TEXT;
        -- In degrees of WGS 84
        ALTER TABLE file ADD COLUMN latitude REAL;
        ALTER TABLE file ADD COLUMN longitude REAL;
        -- The date of capture on the clock of the camera: the year, and the month times 100 plus the day
        ALTER TABLE file ADD COLUMN year INTEGER;
        ALTER TABLE file ADD COLUMN day INTEGER;
        -- The number of the last row in ghost with a former date of capture, 0 for none
        ALTER TABLE file ADD COLUMN redated INTEGER NOT NULL DEFAULT 0;
        DROP INDEX file_by_position;
        DROP INDEX file_by_folder;
        DROP INDEX file_not_examined;
        CREATE INDEX file_by_position ON file (
            position, id, name, modified, format, moved, folder, examined, width, height, taken,
            camera, latitude, longitude
        ) WHERE format > 0;
        CREATE INDEX file_by_folder ON file (
            folder, position, id, name, modified, format, moved, examined, width, height, taken,
            camera, latitude, longitude
        ) WHERE format > 0;
        CREATE INDEX file_not_examined ON file (position) WHERE format > 0 AND examined < 2;
        CREATE INDEX file_by_day ON file (day, taken, id, year, redated)
            WHERE format > 0 AND day IS NOT NULL;
        -- If the day is not NULL: a former date of capture, with the former time of capture as position
        ALTER TABLE ghost ADD COLUMN year INTEGER;
        ALTER TABLE ghost ADD COLUMN day INTEGER;
        """,
        // The time of the last change is not needed any more.
        """
        DROP TABLE content;
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
        // The settings of the camera, and animations. Files are read again as for the migration before.
        """
        -- examined: 3: the file was read with the following metadata
        ALTER TABLE file ADD COLUMN lens TEXT;
        -- In seconds
        ALTER TABLE file ADD COLUMN exposure REAL;
        ALTER TABLE file ADD COLUMN aperture REAL;
        ALTER TABLE file ADD COLUMN iso INTEGER;
        -- 1: the image has several frames
        ALTER TABLE file ADD COLUMN animated INTEGER NOT NULL DEFAULT 0;
        DROP INDEX file_by_position;
        DROP INDEX file_by_folder;
        DROP INDEX file_not_examined;
        CREATE INDEX file_by_position ON file (
            position, id, name, modified, format, moved, folder, examined, width, height, taken,
            camera, latitude, longitude, lens, exposure, aperture, iso, animated
        ) WHERE format > 0;
        CREATE INDEX file_by_folder ON file (
            folder, position, id, name, modified, format, moved, examined, width, height, taken,
            camera, latitude, longitude, lens, exposure, aperture, iso, animated
        ) WHERE format > 0;
        CREATE INDEX file_not_examined ON file (position) WHERE format > 0 AND examined < 3;
        """,
        // Rows are stored in the order in which they were added, the newest photos first, and not by their IDs: each
        // transaction would write as many pages as it has rows.
        """
        CREATE TABLE ordered (
            id INTEGER NOT NULL UNIQUE,
            folder INTEGER NOT NULL REFERENCES folder (id),
            name BLOB NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            format INTEGER NOT NULL,
            position INTEGER NOT NULL,
            moved INTEGER NOT NULL DEFAULT 0,
            examined INTEGER NOT NULL DEFAULT 0,
            width INTEGER NOT NULL DEFAULT 0,
            height INTEGER NOT NULL DEFAULT 0,
            taken INTEGER,
            camera TEXT,
            latitude REAL,
            longitude REAL,
            year INTEGER,
            day INTEGER,
            redated INTEGER NOT NULL DEFAULT 0,
            lens TEXT,
            exposure REAL,
            aperture REAL,
            iso INTEGER,
            animated INTEGER NOT NULL DEFAULT 0,
            UNIQUE (folder, name)
        );
        INSERT INTO ordered SELECT * FROM file ORDER BY position DESC;
        -- The rows in ghost and content are deleted with the table, so that walks in progress begin again.
        INSERT OR REPLACE INTO meta SELECT 'forgotten', seq FROM sqlite_sequence WHERE name = 'ghost';
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
        """,
    ]
}
