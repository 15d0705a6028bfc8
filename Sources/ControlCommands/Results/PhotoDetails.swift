internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit

/// All known properties of a photo.
struct PhotoDetails: Renderable {
    let photo: PhotoEntry

    var json: JSON { photo.json }

    func text(for target: OutputTarget) -> String {
        let details = photo.values.map { (name: $0.key, value: Cell(text($0.key, $0.value))) }
        return DetailList(details: details.filter { !$0.value.text.isEmpty }).text(for: target)
    }

    private func text(_ key: String, _ value: Variant) -> String {
        switch (key, value) {
        case ("account", .objectPath(let path)): path.lastElement
        case ("created", .int64(let seconds)), ("updated", .int64(let seconds)):
            Timestamp(secondsSince1970: seconds).minute
        case (_, .string(let text)): text
        case (_, .bool(let flag)): flag ? "yes" : "no"
        default: JSON(value).text
        }
    }
}

extension PhotoEntry {
    /// The photo as an object.
    var json: JSON { .object(values.map { JSON.Member($0.key, JSON($0.value)) }) }

    /// The title; without a title, the description.
    var caption: String { photo.title ?? photo.description ?? "" }
}
