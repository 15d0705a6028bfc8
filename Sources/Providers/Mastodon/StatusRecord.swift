internal import ProviderKit

/// A status.
///
/// All members except the ID are optional, because they depend on the server software and its version.
struct StatusRecord: Decodable {
    let id: String
    let members: ServiceRecord
    /// The boosted status, in an array because a struct cannot contain a value of its own type.
    private let boosted: [StatusRecord]

    init(from decoder: any Decoder) throws {
        members = try ServiceRecord(from: decoder)
        id = try members.required("id", as: Identifier.self).text
        // One level is decoded: a boost cannot be boosted.
        let isBoosted = decoder.codingPath.contains { $0.stringValue == "reblog" }
        boosted = isBoosted ? [] : [members.value("reblog")].compactMap(\.self)
    }

    /// The boosted status if this is a boost, otherwise this status.
    var original: StatusRecord { boosted.first?.original ?? self }

    /// The content warning.
    var warning: String? { members.line("spoiler_text") }

    var isSensitive: Bool { members.flag("sensitive") == true || warning != nil }

    /// The actions of the user's filters that match the status.
    var filterActions: [String] {
        let filters = members.records("filtered") ?? []
        return filters.map { $0.record("filter")?.text("filter_action") ?? "warn" }
    }

    /// The ID of the like, by which Pixelfed orders the likes.
    var likeNumber: Int? { members.identifier("like_id").flatMap { Int($0) } }
}

/// An opaque ID. Some servers have sent numbers.
struct Identifier: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            text = "\(number)"
        } else {
            text = try value.decode(String.self)
        }
    }
}

extension ServiceRecord {
    func identifier(_ name: String) -> String? { value(name, as: Identifier.self)?.text }
}
