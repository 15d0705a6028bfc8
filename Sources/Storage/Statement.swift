internal import CSQLite

/// A value in a database.
package enum SQLValue: Hashable, Sendable {
    case integer(Int64)
    /// A number. NaN is stored as NULL.
    case real(Double)
    case text(String)
    case blob([UInt8])
    case null

    package static func integer(_ value: Int) -> SQLValue { .integer(Int64(value)) }
    package static func integer(_ value: Int?) -> SQLValue { value.map { .integer($0) } ?? .null }
    package static func integer(_ value: Int64?) -> SQLValue { value.map { .integer($0) } ?? .null }
    package static func real(_ value: Double?) -> SQLValue { value.map { .real($0) } ?? .null }
    package static func text(_ value: String?) -> SQLValue { value.map { .text($0) } ?? .null }
    package static func bool(_ value: Bool) -> SQLValue { .integer(value ? 1 as Int64 : 0) }
}

/// A prepared statement, finalised when the last reference is released.
final class Statement {
    fileprivate let raw: OpaquePointer
    /// True if a row had a number with which calculations may overflow.
    fileprivate(set) var hasLimitedNumber = false

    init(owning raw: OpaquePointer) { self.raw = raw }

    deinit { sqlite3_finalize(raw) }

    func bind(_ values: [SQLValue]) -> Int32 {
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            let code =
                switch value {
                case .integer(let integer): sqlite3_bind_int64(raw, position, integer)
                case .real(let number): sqlite3_bind_double(raw, position, number)
                case .text(var text):
                    text.withUTF8 { bytes in
                        bytes.withMemoryRebound(to: CChar.self) {
                            shim_sqlite3_bind_text(raw, position, $0.baseAddress, Int32($0.count))
                        }
                    }
                case .blob(let bytes):
                    bytes.isEmpty
                        ? sqlite3_bind_zeroblob(raw, position, 0)
                        : shim_sqlite3_bind_blob(raw, position, bytes, Int32(bytes.count))
                case .null: sqlite3_bind_null(raw, position)
                }
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    func step() -> Int32 { sqlite3_step(raw) }

    /// The number of operations that the statement has performed.
    var operationCount: Int {
        Int(sqlite3_stmt_status(raw, SQLITE_STMTSTATUS_VM_STEP, 0))
    }

    func reset() {
        hasLimitedNumber = false
        sqlite3_reset(raw)
        sqlite3_clear_bindings(raw)
    }
}

/// One row of a result, valid until the next step.
package struct Row: ~Copyable {
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// The numbers to which any number of bytes or photos, or a time in seconds, can be added. They include all times of
    /// files in nanoseconds.
    private static let numbers = (Int64.min + 1 << 46)...(Int64.max - 1 << 46)

    /// Returns the integer in a column; 0 for NULL.
    ///
    /// Only damage causes a number with which calculations may overflow: the query fails in a file that can be created
    /// again, and otherwise the result is the nearest other number.
    package func integer(_ column: Int32) -> Int64 {
        let integer = anyInteger(column)
        if Self.numbers.contains(integer) { return integer }
        statement.hasLimitedNumber = true
        return min(max(integer, Self.numbers.lowerBound), Self.numbers.upperBound)
    }

    /// Returns the integer of any size in a column, such as a hash, with which nothing is calculated; 0 for NULL.
    package func anyInteger(_ column: Int32) -> Int64 {
        sqlite3_column_int64(statement.raw, column)
    }

    /// Returns the text in a column; empty for NULL. Only damage causes a NUL in a text; D-Bus does not transmit one.
    package func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(statement.raw, column) else { return "" }
        let bytes = UnsafeBufferPointer(
            start: text, count: Int(sqlite3_column_bytes(statement.raw, column)))
        if bytes.contains(0) { return String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes in a column; empty for NULL.
    package func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(statement.raw, column) else { return [] }
        return [UInt8](
            UnsafeRawBufferPointer(
                start: bytes, count: Int(sqlite3_column_bytes(statement.raw, column))))
    }

    /// Returns the integer in a column; nil for NULL.
    package func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    /// Returns the number in a column; nil for NULL.
    package func optionalReal(_ column: Int32) -> Double? {
        isNull(column) ? nil : sqlite3_column_double(statement.raw, column)
    }

    /// Returns the text in a column; nil for NULL.
    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// Returns the value in a column.
    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(statement.raw, column) {
        case SQLITE_INTEGER: .integer(anyInteger(column))
        case SQLITE_FLOAT: .real(optionalReal(column))
        case SQLITE_TEXT: .text(text(column))
        case SQLITE_BLOB: .blob(blob(column))
        default: .null
        }
    }

    /// Returns true if the column is NULL.
    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement.raw, column) == SQLITE_NULL
    }
}
