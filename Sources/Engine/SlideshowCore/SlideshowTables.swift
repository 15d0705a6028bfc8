internal import EngineModel
internal import ProviderKit
internal import Storage

/// The tables of the settings of slideshows and of the hidden photos, which cannot be recreated.
///
/// The methods are called on the queue of the database; see ``SlideshowStore``.
nonisolated struct SlideshowTables {
    let database: Database

    /// `hidden` is common to all slideshows. Its numbers increase; see ``Playlist/hideNumber``.
    static let sql = """
        CREATE TABLE slideshow (
            name TEXT PRIMARY KEY CHECK (name NOT GLOB '*[^a-z0-9_]*' AND length(name) <= 32),
            is_paused INTEGER NOT NULL,
            interval INTEGER NOT NULL,
            is_shuffled INTEGER NOT NULL,
            orientation TEXT NOT NULL,
            image_size TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE slideshow_source (
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            account TEXT,
            source TEXT NOT NULL,
            PRIMARY KEY (name, number)
        ) WITHOUT ROWID;
        CREATE TABLE hidden (
            number INTEGER PRIMARY KEY CHECK (number BETWEEN 0 AND \(TableFormat.largestNumber)),
            account TEXT NOT NULL,
            photo TEXT NOT NULL,
            UNIQUE (account, photo)
        );
        """

    /// Reads the settings of all slideshows, by name.
    func settings() throws(StorageError) -> [String: SlideshowSettings] {
        var all: [String: SlideshowSettings] = [:]
        try database.query(
            "SELECT name, is_paused, interval, is_shuffled, orientation, image_size FROM slideshow"
        ) { row throws(StorageError) in
            var settings = SlideshowSettings()
            settings.isPaused = row.integer(1) != 0
            let interval = UInt32(clamping: row.integer(2))
            settings.intervalSeconds =
                interval == 0 ? 0 : max(interval, SlideshowSettings.shortestIntervalSeconds)
            settings.isShuffled = row.integer(3) != 0
            settings.orientation = SlideshowOrientation(rawValue: row.text(4)) ?? .any
            settings.imageSize = ImageSize(rawValue: row.text(5)) ?? .regular
            all[row.text(0)] = settings
        }
        for name in all.keys {
            let sources = try database.all(
                "SELECT account, source FROM slideshow_source WHERE name = ? ORDER BY number",
                [.text(name)]
            ) { row in
                SlideshowSource(
                    account: row.optionalText(0).map { AccountID(stored: $0) },
                    source: SourceID(row.text(1)))
            }
            if !sources.isEmpty { all[name]?.sources = sources }
        }
        return all
    }

    /// Stores the settings of a slideshow.
    func write(_ settings: SlideshowSettings, of name: String) throws(StorageError) {
        try database.query(
            "INSERT OR REPLACE INTO slideshow VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(name), .bool(settings.isPaused), .integer(Int64(settings.intervalSeconds)),
                .bool(settings.isShuffled), .text(settings.orientation.rawValue),
                .text(settings.imageSize.rawValue),
            ])
        try database.query("DELETE FROM slideshow_source WHERE name = ?", [.text(name)])
        for (index, source) in settings.sources.enumerated() {
            try database.query(
                "INSERT INTO slideshow_source VALUES (?, ?, ?, ?)",
                [
                    .text(name), .integer(index), .text(source.account?.text),
                    .text(source.source.text),
                ])
        }
    }

    /// Deletes the settings of a slideshow.
    func delete(_ name: String) throws(StorageError) {
        for table in ["slideshow", "slideshow_source"] {
            try database.query("DELETE FROM \(table) WHERE name = ?", [.text(name)])
        }
    }

    // MARK: Hidden photos

    /// Reads the hidden photos with their numbers, in the order in which they were hidden.
    func hidden() throws(StorageError) -> [(id: CombinedPhotoID, number: Int64)] {
        try database.all("SELECT account, photo, number FROM hidden ORDER BY number") { row in
            (CombinedPhotoID(row, 0), row.integer(2))
        }
    }

    func hide(_ id: CombinedPhotoID, _ number: Int64) throws(StorageError) {
        try database.query(
            "INSERT OR REPLACE INTO hidden VALUES (?, ?, ?)", [.integer(number)] + id.values)
    }

    func unhide(_ id: CombinedPhotoID) throws(StorageError) {
        try database.query("DELETE FROM hidden WHERE account = ? AND photo = ?", id.values)
    }

    /// Deletes the hidden photos and the sources of an account.
    func forget(_ account: AccountID) throws(StorageError) {
        for table in ["hidden", "slideshow_source"] {
            try database.query("DELETE FROM \(table) WHERE account = ?", [.text(account.text)])
        }
    }
}

nonisolated extension CombinedPhotoID {
    /// Reads an ID in the columns `account` and `photo`, of which this is the first one.
    init(_ row: borrowing Row, _ column: Int32) {
        self.init(AccountID(stored: row.text(column)), PhotoID(row.text(column + 1)))
    }

    /// The values of the columns `account` and `photo`.
    var values: [SQLValue] { [.text(account.text), .text(photo.text)] }
}
