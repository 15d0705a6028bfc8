import ProviderKit
import Testing

struct SourceIDTests {
    @Test(arguments: [
        ("topic:nature", ["topic", "nature"]), ("search:a:b", ["search", "a:b"]),
        ("tag:", ["tag", ""]), (":x", ["", "x"]), ("likes", nil), ("", nil),
    ])
    func `the kind and the name are before and after the first colon`(
        text: String, parts: [String]?
    ) {
        let found = SourceID(text).kindAndName
        #expect(found.map { [$0.kind, $0.name] } == parts)
    }
}
