package import DBus
package import ProviderKit

/// A source in its D-Bus form: `a{sv}`.
package struct SourceEntry: BusType {
    package static let signature: Signature = "a{sv}"
    package static let alignment = 4

    package let source: Source

    package init(_ source: Source) { self.source = source }

    package init(from decoder: inout Decoder) throws(BusError) {
        let entries = try [String: Variant](from: &decoder)
        guard let id = entries["id"]?.string else { throw .invalidValue("a source has no ID") }
        source = Source(
            id: SourceID(id), title: entries["title"]?.string ?? id,
            kind: entries["kind"]?.string.flatMap(Source.Kind.init) ?? .feed,
            count: entries["count"]?.uint32.map(Int.init),
            cover: entries["cover"]?.string.map { PhotoID($0) })
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        let start = encoder.beginArray(alignment: 8)
        try encoder.entry(Head.id, source.id.text)
        try encoder.entry(Head.title, source.title)
        try encoder.entry(Head.kind, source.kind.rawValue)
        encoder.entry(Head.count, source.count.map(UInt32.init(clamping:)))
        try encoder.entry(Head.cover, source.cover?.text)
        try encoder.endArray(start)
    }

    private enum Head {
        static let id = EntryHead<String>("id")
        static let title = EntryHead<String>("title")
        static let kind = EntryHead<String>("kind")
        static let count = EntryHead<UInt32>("count")
        static let cover = EntryHead<String>("cover")
    }
}
