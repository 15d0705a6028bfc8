internal import Accounts
internal import ProviderKit
internal import Storage

/// The tables of the slideshow: the settings, the history, the hidden photos and the known photos.
///
/// The methods are called on the queue of the database; see ``SlideshowStore``.
nonisolated struct SlideshowTables {
    let database: Database

    /// `history.number` is 0 for the current photo, negative for earlier photos and positive for later ones.
    ///
    /// `part` has the accounts that the source consists of, with the position up to which their photos were read.
    ///
    /// `known` has the photos of the source that were read. Those with an `order_key` were not shown in this round. They
    /// are shown in the order of the keys, which are random, and negative for new photos. Without shuffle, `known` has
    /// only new photos.
    ///
    /// `unsized` has the photos of the source whose size, and thus orientation, was unknown when they were read.
    static let migrations = [
        """
        CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE current_photo (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
        CREATE TABLE history (
            number INTEGER PRIMARY KEY, account TEXT NOT NULL, photo TEXT NOT NULL);
        CREATE TABLE hidden (
            number INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            photo TEXT NOT NULL,
            UNIQUE (account, photo)
        );
        CREATE TABLE part (
            account TEXT PRIMARY KEY,
            source TEXT NOT NULL,
            cursor TEXT NOT NULL,
            has_ended INTEGER NOT NULL,
            pass INTEGER NOT NULL,
            top TEXT
        ) WITHOUT ROWID;
        CREATE TABLE known (
            number INTEGER PRIMARY KEY,
            account TEXT NOT NULL,
            photo TEXT NOT NULL,
            order_key INTEGER,
            pass INTEGER NOT NULL,
            UNIQUE (account, photo)
        );
        CREATE INDEX known_order ON known (order_key) WHERE order_key IS NOT NULL;
        """,
        """
        CREATE TABLE source (
            number INTEGER PRIMARY KEY, account TEXT NOT NULL, source TEXT NOT NULL);
        INSERT INTO source
            SELECT 0, coalesce((SELECT value FROM setting WHERE key = 'source_account'), ''), value
            FROM setting WHERE key = 'source';
        DELETE FROM setting WHERE key IN ('source', 'source_account');
        """,
        """
        CREATE TABLE unsized (
            account TEXT NOT NULL, photo TEXT NOT NULL, pass INTEGER NOT NULL,
            PRIMARY KEY (account, photo)
        ) WITHOUT ROWID;
        """,
    ]

    // MARK: State

    /// Reads the stored state.
    func state() throws(StorageError) -> SlideshowState {
        let rows = try database.all("SELECT key, value FROM setting") { ($0.text(0), $0.text(1)) }
        let values = Dictionary(rows) { $1 }
        var settings = SlideshowSettings()
        settings.isPaused = values["paused"] == "1"
        settings.isShuffled = values["shuffle"] == "1"
        if let interval = values["interval"].flatMap({ UInt32($0) }) {
            settings.intervalSeconds = interval
        }
        if let size = values["image_size"].flatMap(ImageSize.init(rawValue:)) {
            settings.imageSize = size
        }
        if let orientation = values["orientation"].flatMap(SlideshowOrientation.init(rawValue:)) {
            settings.orientation = orientation
        }
        let sources = try database.all("SELECT account, source FROM source ORDER BY number") {
            let account = $0.text(0)
            return SlideshowSource(
                account: account.isEmpty ? nil : AccountID(stored: account),
                source: SourceID($0.text(1)))
        }
        if !sources.isEmpty { settings.sources = sources }
        let sourceIndex = values["source_index"].flatMap { Int($0) } ?? 0
        let history = try database.all(
            "SELECT number, account, photo FROM history ORDER BY number"
        ) { (number: $0.integer(0), id: Self.id($0, 1)) }
        let current: SlideshowState.Shown? =
            if let id = history.first(where: { $0.number == 0 })?.id {
                .init(id: id, photo: try photo(id.photo), image: values["image"] ?? "")
            } else { nil }
        return SlideshowState(
            settings, past: history.filter { $0.number < 0 }.map(\.id), current: current,
            future: history.filter { $0.number > 0 }.map(\.id),
            hidden: try database.all("SELECT account, photo FROM hidden ORDER BY number") {
                Self.id($0, 0)
            },
            sourceIndex: settings.sources.indices.contains(sourceIndex) ? sourceIndex : 0,
            cursor: values["cursor"] ?? "")
    }

    static func id(_ row: borrowing Row, _ column: Int32) -> CombinedPhotoID {
        CombinedPhotoID(
            AccountID(stored: row.text(column)), PhotoID(row.text(column + 1)))
    }

    /// Stores the differences between two states.
    func write(_ new: SlideshowState, replacing old: SlideshowState) throws(StorageError) {
        let before = Self.settings(old)
        for (key, value) in Self.settings(new) where value != before[key] {
            try database.query(
                "INSERT OR REPLACE INTO setting VALUES (?, ?)", [.text(key), .text(value)])
        }
        if new.settings.sources != old.settings.sources {
            try database.query("DELETE FROM source")
            for (index, source) in new.settings.sources.enumerated() {
                try database.query(
                    "INSERT INTO source VALUES (?, ?, ?)",
                    [
                        .integer(index), .text(source.account?.text ?? ""),
                        .text(source.source.text),
                    ])
            }
        }
        if new.current?.photo != old.current?.photo { try write(new.current?.photo) }
        if new.past != old.past || new.future != old.future || new.current?.id != old.current?.id {
            try writeHistory(new)
        }
        guard new.hidden != old.hidden else { return }
        for id in Set(old.hidden).subtracting(new.hidden) {
            try database.query(
                "DELETE FROM hidden WHERE account = ? AND photo = ?", Self.values(id))
        }
        for id in new.hidden where !old.isHidden(id) {
            try database.query(
                "INSERT OR IGNORE INTO hidden (account, photo) VALUES (?, ?)", Self.values(id))
        }
    }

    /// The values of the table `setting` by their keys.
    private static func settings(_ state: SlideshowState) -> [String: String] {
        [
            "paused": state.settings.isPaused ? "1" : "0",
            "shuffle": state.settings.isShuffled ? "1" : "0",
            "interval": "\(state.settings.intervalSeconds)",
            "image_size": state.settings.imageSize.rawValue,
            "orientation": state.settings.orientation.rawValue,
            "source_index": "\(state.sourceIndex)",
            "cursor": state.cursor,
            "image": state.current?.image ?? "",
        ]
    }

    private func writeHistory(_ state: SlideshowState) throws(StorageError) {
        try database.query("DELETE FROM history")
        func insert(_ number: Int, _ id: CombinedPhotoID) throws(StorageError) {
            try database.query(
                "INSERT INTO history VALUES (?, ?, ?)", [.integer(number)] + Self.values(id))
        }
        for (index, id) in state.past.enumerated() { try insert(index - state.past.count, id) }
        if let current = state.current { try insert(0, current.id) }
        for (index, id) in state.future.enumerated() { try insert(index + 1, id) }
    }

    static func values(_ id: CombinedPhotoID) -> [SQLValue] {
        [.text(id.account.text), .text(id.photo.text)]
    }
}

/// The description of the current photo, which is shown at the start before its account is ready.
nonisolated extension SlideshowTables {
    /// Reads the description. Unknown keys are ignored.
    func photo(_ id: PhotoID) throws(StorageError) -> Photo {
        var photo = Photo(id: id)
        for (field, property) in zip(PhotoField.all, PhotoProperty.all) {
            guard case .point(_, let set) = field.value else {
                try database.query(
                    "SELECT value FROM current_photo WHERE key = ?", [.text(field.key)]
                ) { row throws(StorageError) in property.read(&photo, row, 0) }
                continue
            }
            try database.query(
                """
                SELECT x.value, y.value FROM current_photo AS x, current_photo AS y
                WHERE x.key = ? || '_x' AND y.key = ? || '_y'
                """, [.text(field.key), .text(field.key)]
            ) { row throws(StorageError) in
                guard let x = row.optionalReal(0), let y = row.optionalReal(1) else { return }
                set(&photo, FocalPoint(x: x, y: y))
            }
        }
        return photo
    }

    /// Replaces the description.
    func write(_ photo: Photo?) throws(StorageError) {
        try database.query("DELETE FROM current_photo")
        guard let photo else { return }
        for (field, property) in zip(PhotoField.all, PhotoProperty.all) {
            var values: [(key: String, value: SQLValue)] = []
            if case .point(let get, _) = field.value {
                guard let point = get(photo) else { continue }
                values = [("\(field.key)_x", .real(point.x)), ("\(field.key)_y", .real(point.y))]
            } else {
                var stored: [SQLValue] = []
                property.append(photo, &stored)
                if case .null = stored[0] { continue }
                values = [(field.key, stored[0])]
            }
            for (key, value) in values {
                try database.query("INSERT INTO current_photo VALUES (?, ?)", [.text(key), value])
            }
        }
    }
}
