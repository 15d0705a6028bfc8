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

    private enum Key: String {
        case isPaused = "paused"
        case intervalSeconds = "interval"
        case isShuffled = "shuffle"
        case sourceIndex = "source_index"
        case orientation
        case imageSize = "image_size"
        case cursor
        case image
    }

    // MARK: State

    /// Reads the stored state.
    func state() throws(StorageError) -> SlideshowState {
        var values: [String: String] = [:]
        try database.query("SELECT key, value FROM setting") { row throws(StorageError) in
            values[row.text(0)] = row.text(1)
        }
        func value(_ key: Key) -> String? { values[key.rawValue] }
        var settings = SlideshowSettings()
        settings.isPaused = value(.isPaused) == "1"
        settings.isShuffled = value(.isShuffled) == "1"
        if let interval = value(.intervalSeconds).flatMap({ UInt32($0) }) {
            settings.intervalSeconds = interval
        }
        if let size = value(.imageSize).flatMap(ImageSize.init(rawValue:)) {
            settings.imageSize = size
        }
        if let orientation = value(.orientation).flatMap(SlideshowOrientation.init(rawValue:)) {
            settings.orientation = orientation
        }
        var sources: [SlideshowSource] = []
        try database.query("SELECT account, source FROM source ORDER BY number") {
            row throws(StorageError) in
            let account = row.text(0)
            sources.append(
                SlideshowSource(
                    account: account.isEmpty ? nil : AccountID(stored: account),
                    source: SourceID(row.text(1))))
        }
        if !sources.isEmpty { settings.sources = sources }
        let sourceIndex = value(.sourceIndex).flatMap { Int($0) } ?? 0
        var past: [CombinedPhotoID] = []
        var future: [CombinedPhotoID] = []
        var id: CombinedPhotoID?
        try database.query("SELECT number, account, photo FROM history ORDER BY number") {
            row throws(StorageError) in
            let photo = Self.id(row, 1)
            switch row.integer(0) {
            case ..<0: past.append(photo)
            case 0: id = photo
            default: future.append(photo)
            }
        }
        var hidden: [CombinedPhotoID] = []
        try database.query("SELECT account, photo FROM hidden ORDER BY number") {
            row throws(StorageError) in hidden.append(Self.id(row, 0))
        }
        var current: SlideshowState.Shown?
        if let id {
            current = SlideshowState.Shown(
                id: id, photo: try photo(id.photo), image: value(.image) ?? "")
        }
        return SlideshowState(
            settings, past: past, current: current, future: future, hidden: hidden,
            sourceIndex: settings.sources.indices.contains(sourceIndex) ? sourceIndex : 0,
            cursor: value(.cursor) ?? "")
    }

    private static func id(_ row: borrowing Row, _ column: Int32) -> CombinedPhotoID {
        CombinedPhotoID(
            AccountID(stored: row.text(column)), PhotoID(row.text(column + 1)))
    }

    /// Stores the differences between two states.
    func write(_ new: SlideshowState, replacing old: SlideshowState) throws(StorageError) {
        if new.settings != old.settings {
            try set(.isPaused, new.settings.isPaused ? "1" : "0")
            try set(.isShuffled, new.settings.isShuffled ? "1" : "0")
            try set(.intervalSeconds, "\(new.settings.intervalSeconds)")
            try set(.imageSize, new.settings.imageSize.rawValue)
            try set(.orientation, new.settings.orientation.rawValue)
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
        if new.sourceIndex != old.sourceIndex { try set(.sourceIndex, "\(new.sourceIndex)") }
        if new.cursor != old.cursor { try set(.cursor, new.cursor) }
        if new.current?.image != old.current?.image { try set(.image, new.current?.image ?? "") }
        if new.current?.photo != old.current?.photo { try write(new.current?.photo) }
        if new.past != old.past || new.future != old.future || new.current?.id != old.current?.id {
            try writeHistory(new)
        }
        guard new.hidden != old.hidden else { return }
        let added = Set(new.hidden).subtracting(old.hidden)
        let removed = Set(old.hidden).subtracting(new.hidden)
        for id in removed {
            try database.query(
                "DELETE FROM hidden WHERE account = ? AND photo = ?", Self.values(id))
        }
        for id in new.hidden where added.contains(id) {
            try database.query(
                "INSERT OR IGNORE INTO hidden (account, photo) VALUES (?, ?)", Self.values(id))
        }
    }

    private func set(_ key: Key, _ value: String) throws(StorageError) {
        try database.query(
            "INSERT OR REPLACE INTO setting VALUES (?, ?)", [.text(key.rawValue), .text(value)])
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
        var texts: [String: String] = [:]
        var numbers: [String: Double] = [:]
        try database.query("SELECT key, value, typeof(value) FROM current_photo") {
            row throws(StorageError) in
            if row.text(2) == "text" {
                texts[row.text(0)] = row.text(1)
            } else {
                numbers[row.text(0)] = row.optionalReal(1)
            }
        }
        var photo = Photo(id: id)
        for field in PhotoField.all {
            let number = numbers[field.key]
            switch field.value {
            case .time(_, let set):
                set(&photo, number.map { Timestamp(secondsSince1970: Int64($0)) })
            case .count(_, let set): set(&photo, number.map { Int($0) })
            case .number(_, _, let set): set(&photo, number)
            case .flag(_, let set): set(&photo, number.map { $0 != 0 })
            case .text(_, _, let set): set(&photo, texts[field.key])
            case .point(_, let set):
                if let x = numbers["\(field.key)_x"], let y = numbers["\(field.key)_y"] {
                    set(&photo, FocalPoint(x: x, y: y))
                }
            case .likeState: break
            }
        }
        photo.isLiked = numbers["liked"] == 1
        photo.isPending = numbers["pending"] == 1
        return photo
    }

    /// Replaces the description.
    func write(_ photo: Photo?) throws(StorageError) {
        try database.query("DELETE FROM current_photo")
        guard let photo else { return }
        func set(_ key: String, _ value: SQLValue?) throws(StorageError) {
            guard let value else { return }
            try database.query("INSERT INTO current_photo VALUES (?, ?)", [.text(key), value])
        }
        for field in PhotoField.all {
            switch field.value {
            case .time(let get, _):
                try set(field.key, get(photo).map { .integer($0.secondsSince1970) })
            case .count(let get, _): try set(field.key, get(photo).map { .integer($0) })
            case .number(_, let get, _): try set(field.key, get(photo).map { .real($0) })
            case .flag(let get, _): try set(field.key, get(photo).map { .bool($0) })
            case .text(_, let get, _): try set(field.key, get(photo).map { .text($0) })
            case .point(let get, _):
                let point = get(photo)
                try set("\(field.key)_x", point.map { .real($0.x) })
                try set("\(field.key)_y", point.map { .real($0.y) })
            case .likeState(let get, _): try set(field.key, .bool(get(photo)))
            }
        }
    }
}
