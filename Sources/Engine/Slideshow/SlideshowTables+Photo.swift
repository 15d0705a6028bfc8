internal import ProviderKit
internal import Storage

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
