internal import BusAPI
internal import DBus

/// All known properties of a photo.
struct PhotoDetails: Renderable {
    let photo: [String: Variant]

    var json: JSON { JSON(photo, order: PropertyOrder.photo) }

    func text(for target: OutputTarget) -> String {
        let known = PhotoKey.allCases.map(\.rawValue)
        let keys = known + photo.keys.filter { !known.contains($0) }.sorted()
        let details = keys.compactMap { key in
            photo[key].map { (name: key, value: Cell(text(key, $0, target))) }
        }
        return DetailList(details: details.filter { !$0.value.text.isEmpty }).text(for: target)
    }

    private func text(_ key: String, _ value: Variant, _ target: OutputTarget) -> String {
        switch (PhotoKey(rawValue: key), value) {
        case (.account, .objectPath(let path)): AccountRecord.id(of: path)
        case (.created, .int64(let seconds)), (.updated, .int64(let seconds)):
            Timestamp(seconds).minute
        case (_, .string(let text)): text
        case (_, .bool(let flag)): flag ? "yes" : "no"
        default: JSON(value).text
        }
    }
}
