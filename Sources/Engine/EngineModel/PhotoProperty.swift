package import ProviderKit
package import Storage

/// A property of photos in the form in which it is stored.
nonisolated package struct PhotoProperty: Sendable {
    /// The properties in the order of ``PhotoField/all``.
    package static let all = PhotoField.all.map(PhotoProperty.init)
    /// The properties in the order of ``PhotoField/described``.
    package static let described = PhotoField.described.map(PhotoProperty.init)

    package let columnCount: Int32
    /// Reads the property from its first column on, unless it is NULL. The property is a closure, because copies of
    /// enumeration values take as much time as the rest of the read.
    package let read: @Sendable (inout Photo, borrowing Row, Int32) -> Void
    /// Appends the values of the columns.
    package let append: @Sendable (Photo, inout [SQLValue]) -> Void

    private init(_ field: PhotoField) {
        columnCount = Int32(field.columns.count)
        switch field.value {
        case .time(let get, let set):
            read = { photo, row, column in
                guard let seconds = row.optionalInteger(column) else { return }
                set(&photo, Timestamp(secondsSince1970: seconds))
            }
            append = { $1.append(.integer(get($0)?.secondsSince1970)) }
        case .count(let get, let set):
            read = { photo, row, column in
                if let count = row.optionalInteger(column) { set(&photo, Int(count)) }
            }
            append = { $1.append(.integer(get($0))) }
        case .number(_, let get, let set):
            read = { photo, row, column in
                if let number = row.optionalReal(column) { set(&photo, number) }
            }
            append = { $1.append(.real(get($0))) }
        case .flag(let get, let set):
            read = { photo, row, column in
                if let flag = row.optionalInteger(column) { set(&photo, flag != 0) }
            }
            append = { $1.append(get($0).map(SQLValue.bool) ?? .null) }
        case .text(_, let get, let set):
            read = { photo, row, column in
                if let text = row.optionalText(column) { set(&photo, text) }
            }
            append = { $1.append(.text(get($0))) }
        case .point(let get, let set):
            read = { photo, row, column in
                guard let x = row.optionalInteger(column), let y = row.optionalInteger(column + 1)
                else { return }
                set(&photo, FocalPoint(x: Double(x) / 1e6, y: Double(y) / 1e6))
            }
            append = { photo, values in
                let point = get(photo)
                values.append(.integer(point.map { Int64(($0.x * 1e6).rounded()) }))
                values.append(.integer(point.map { Int64(($0.y * 1e6).rounded()) }))
            }
        }
    }
}
