internal import CSQLite

/// The copy of one table of a damaged database.
struct DamagedTable {
    private let source: Database
    private let target: Database
    private let table: String
    /// The columns by which the rows of the table are ordered in the file.
    private let keys: [String]
    /// True if the table numbers new rows itself.
    private let isNumbered: Bool
    private let columns: [(source: String, target: String)]
    /// The columns that must have a value and are missing in the source, with the empty value of their type.
    private let missing: [(name: String, value: SQLValue)]
    /// The columns of the target that contain texts.
    private let texts: Set<String>
    /// The columns of the target that contain only 0 and 1.
    private let flags: Set<String>
    /// The column that is a name of the row number.
    private let numberColumn: String?
    /// The rows that violate a constraint of the target, each once, in the order in which they were read.
    private var rejected: [[SQLValue]] = []
    private var knownRejected: Set<[SQLValue]> = []

    /// The largest number of ranges of rows that are read between damaged pages or rows.
    private static let maximumRanges = 1000
    /// The number of rows from which the position of a damaged page is estimated. A damaged page may contain rows with
    /// wrong numbers, which must not hide the rows of other pages.
    private static let estimateRows = 64

    /// Finds the columns; fails if the source does not have the table.
    init?(
        _ table: String, _ keys: [String], isNumbered: Bool, from source: Database,
        to target: Database
    ) throws(StorageError) {
        func names(_ database: Database) throws(StorageError) -> [String] {
            try database.all(
                "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", [.text(table)]
            ) { $0.text(0) }
        }
        guard let old = try? names(source), !old.isEmpty else { return nil }
        let new = try names(target)
        columns = new.indices.compactMap { index in
            if old.contains(new[index]) { return (new[index], new[index]) }
            // The name of the column is damaged.
            guard old.count == new.count, !new.contains(old[index]) else { return nil }
            return (old[index], new[index])
        }
        let all = try target.all(
            """
            SELECT name, type, "notnull", pk, (SELECT instr(sql, info.name || ' IN (0, 1)')
                FROM sqlite_master WHERE type = 'table' AND name = ?1)
            FROM pragma_table_info(?1) AS info
            """, [.text(table)]
        ) { row in
            (
                name: row.text(0), type: row.text(1), isNeeded: row.integer(2) > 0,
                key: row.integer(3), isFlag: row.integer(4) > 0
            )
        }
        texts = Set(all.filter { $0.type == "TEXT" }.map(\.name))
        flags = Set(all.filter(\.isFlag).map(\.name))
        let known = Set(columns.map(\.target))
        missing = all.filter { $0.isNeeded && $0.key == 0 && !known.contains($0.name) }.map {
            ($0.name, $0.type == "TEXT" ? .text("") : $0.type == "BLOB" ? .blob([]) : .integer(0))
        }
        let primary = all.filter { $0.key > 0 }
        numberColumn =
            keys == ["rowid"] && primary.count == 1 && primary[0].type == "INTEGER"
            ? primary[0].name : nil
        (self.source, self.target, self.table, self.keys) = (source, target, table, keys)
        self.isNumbered = isNumbered
    }

    private var hasNumbers: Bool { keys == ["rowid"] }
    private var names: [String] { (hasNumbers ? ["rowid"] : []) + columns.map(\.target) }

    /// Copies the rows from both ends up to the first damaged page. In a table with numbered rows, the ranges between
    /// damaged pages follow.
    ///
    /// - Returns: The number of rows that were found and not copied: the target rejects them, or they cannot be read.
    mutating func copy() throws(StorageError) -> Int {
        guard hasNumbers else {
            let unreadable = try copyByPosition()
            return rejected.count + unreadable
        }
        try copyByNumber()
        // A row whose number is wrong, or was taken by a row with a wrong number, gets a new number.
        var count = 0
        for row in rejected {
            let fields = zip(names, row).dropFirst().filter { $0.0 != numberColumn }
            if try !insert(fields.map(\.0), fields.map(\.1)) { count += 1 }
        }
        return count
    }

    /// Copies the rows around damaged rows, from both ends up to the first damaged page.
    ///
    /// - Returns: The number of damaged rows.
    private mutating func copyByPosition() throws(StorageError) -> Int {
        var damaged = 0
        for order in ["ASC", "DESC"] {
            // It reads the pages up to a row, but no row.
            let search = "SELECT 1 FROM \"\(table)\" ORDER BY \(sorting(order)) LIMIT 1 OFFSET ?"
            var position = 0
            for _ in 0..<Self.maximumRanges {
                let (isComplete, count, _) = try copy(order, from: position)
                if isComplete { return damaged }
                position += count + 1
                guard (try? source.query(search, [.integer(position)])) != nil else { break }
                damaged += 1
            }
        }
        return damaged
    }

    private mutating func copyByNumber() throws(StorageError) {
        // Neither is limited by what the other has read, because the numbers may be wrong.
        let (isComplete, _, low) = try copy("ASC")
        if isComplete { return }
        let (isCompleteBackwards, _, high) = try copy("DESC")
        if isCompleteBackwards { return }
        var ranges = [(low: low ?? .min, high: high ?? .max)]
        var next = 0
        while next < min(ranges.count, Self.maximumRanges) {
            var (low, high) = ranges[next]
            next += 1
            let (isComplete, _, first) = try copy("ASC", (low, high))
            if isComplete { continue }
            low = first ?? low
            let (isCompleteBackwards, _, last) = try copy("DESC", (low, high))
            if isCompleteBackwards { continue }
            high = last ?? high
            let middle = low / 2 + high / 2
            if low < middle, middle < high { ranges += [(low, middle + 1), (middle, high)] }
        }
    }

    /// Copies rows until one cannot be read.
    ///
    /// - Parameters:
    ///   - order: `ASC` or `DESC`.
    ///   - range: The numbers between which rows are copied; nil for all rows.
    ///   - position: The number of rows that are passed.
    /// - Returns: False if a row could not be read, the number of rows that could be read, and a number near the last one.
    /// - Throws: ``StorageError`` of the target.
    private mutating func copy(
        _ order: String, _ range: (low: Int64, high: Int64)? = nil, from position: Int = 0
    ) throws(StorageError) -> (isComplete: Bool, count: Int, number: Int64?) {
        let selected = (hasNumbers ? ["rowid"] : []) + columns.map(\.source)
        let select = """
            SELECT \(Self.quoted(selected)) FROM "\(table)"
            \(range == nil ? "" : "WHERE rowid > ? AND rowid < ?")
            ORDER BY \(sorting(order)) LIMIT -1 OFFSET ?
            """
        let limits = range.map { [SQLValue.integer($0.low), .integer($0.high)] } ?? []
        let names = names
        var count = 0
        var numbers: [Int64] = []
        var failure: StorageError?
        do throws(StorageError) {
            try source.query(select, limits + [.integer(position)]) { row throws(StorageError) in
                count += 1
                if hasNumbers { numbers.append(row.anyInteger(0)) }
                if numbers.count >= 2 * Self.estimateRows {
                    numbers.removeFirst(Self.estimateRows)
                }
                let values = selected.indices.map { value(row.value(Int32($0)), names[$0]) }
                do throws(StorageError) { try store(values) } catch {
                    failure = error
                    throw error
                }
            }
            return (true, count, nil)
        } catch {
            if let failure { throw failure }
            let last = numbers.suffix(Self.estimateRows).sorted()
            return (false, count, last.isEmpty ? nil : last[last.count / 2])
        }
    }

    private func sorting(_ order: String) -> String {
        keys.map { "\(Self.quoted([$0])) \(order)" }.joined(separator: ", ")
    }

    /// Returns a value for a column. One wrong bit changes a text to bytes, which equal no text, and a flag to a number
    /// with which the row would be rejected.
    private func value(_ value: SQLValue, _ column: String) -> SQLValue {
        if flags.contains(column) { return .bool(value != .integer(0 as Int64)) }
        guard case .blob(let bytes) = value, texts.contains(column),
            let text = String(validating: bytes, as: UTF8.self)
        else { return value }
        return .text(text)
    }

    /// Adds a row to the target, or to the rejected rows.
    private mutating func store(_ values: [SQLValue]) throws(StorageError) {
        if isNumbered, case .integer(let number) = values[0],
            number > TableFormat.largestKeptNumber
        {
            // SQLite would number the next rows after it, even if it is rejected.
            return reject(values)
        }
        if try insert(names, values) { return }
        let isStored = try target.exists(
            """
            SELECT 1 FROM "\(table)"
            WHERE \(names.map { "\(Self.quoted([$0])) IS ?" }.joined(separator: " AND "))
            """, values)
        if !isStored { reject(values) }
    }

    private mutating func reject(_ values: [SQLValue]) {
        if knownRejected.insert(values).inserted { rejected.append(values) }
    }

    /// Inserts a row into the target.
    ///
    /// - Returns: False if it violates a constraint.
    private func insert(
        _ names: [String], _ values: [SQLValue]
    ) throws(StorageError) -> Bool {
        let names = names + missing.map(\.name)
        let insert = """
            INSERT OR IGNORE INTO "\(table)" (\(Self.quoted(names)))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            """
        do throws(StorageError) {
            try target.query(insert, values + missing.map(\.value))
            return target.changedRows > 0
        } catch .failed(let code, _) where code & 0xff == SQLITE_CONSTRAINT {
            return false
        }
    }

    private static func quoted(_ names: [String]) -> String {
        names.map { $0 == "rowid" ? $0 : "\"\($0)\"" }.joined(separator: ", ")
    }
}
