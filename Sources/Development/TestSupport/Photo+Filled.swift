package import ProviderKit

extension Photo {
    /// Returns a photo in which every property of ``PhotoField`` is known. Numbers and texts differ between the
    /// properties.
    package static func filled(id: String) -> Photo {
        var photo = Photo(id: PhotoID(id))
        for (number, field) in PhotoField.all.enumerated() where field.isDescribed {
            switch field.value {
            case .time(_, let set):
                set(&photo, Timestamp(secondsSince1970: 1_790_000_000 + Int64(number)))
            case .count(_, let set): set(&photo, 100 + number)
            case .number(let range, _, let set):
                set(&photo, range.upperBound - 0.5 - Double(number))
            case .flag(_, let set): set(&photo, true)
            case .text(let form, _, let set): set(&photo, text(form, field.key))
            case .point(_, let set): set(&photo, FocalPoint(x: 0.25, y: -1))
            }
        }
        photo.isLiked = true
        return photo
    }

    private static func text(_ form: PhotoField.TextForm, _ key: String) -> String {
        switch form {
        case .line: "A \(key)"
        case .paragraphs: "A \(key)\nof two lines"
        case .link: "https://example.org/\(key)"
        case .color: "#A0B1c2"
        case .blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
        case .mediaType: "image/jpeg"
        }
    }
}
