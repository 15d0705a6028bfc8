import Quoting
import Testing

@testable import XML

/// Tests of the XML parser.
struct XMLDocumentTests {
    private func parse(
        _ text: String, _ limits: XMLLimits = XMLLimits()
    ) throws(XMLError) -> XMLElement {
        try XMLDocument.parse(Array(text.utf8), limits: limits)
    }

    @Test func `elements have a namespace, a text and children in order`() throws {
        let root = try parse(
            """
            <?xml version="1.0"?>
            <d:a xmlns:d="DAV:" xmlns:x="http://x.example/ns" d:attribute="1">
              <x:b>Tom &amp; Jerry &#x41;<![CDATA[<c>]]></x:b>
              <b/>
              <x:b xmlns:x="DAV:">ü</x:b>
            </d:a>
            """)
        #expect(root.name == "a" && root.namespace == "DAV:" && root.text.isEmpty)
        #expect(root.children.map(\.name) == ["b", "b", "b"])
        #expect(root.children.map(\.namespace) == ["http://x.example/ns", "", "DAV:"])
        #expect(root.child("b")?.text == "Tom & Jerry A<c>")
        #expect(root.child("b", in: "DAV:")?.text == "ü")
        #expect(root.children("b", in: "").map(\.text) == [""])
        #expect(root.child("c") == nil)
    }

    @Test(arguments: [
        "", " ", "<a>", "<a></b>", "<a/><b/>", "text", "<a>&unknown;</a>", "<x:a/>",
        "<a>\u{1}", "<a>&#1</a>", "<a>&#x;</a>", "<a b=1/>", "\u{feff}",
    ])
    func `a document that is not well-formed is an error`(text: String) {
        let error = #expect(throws: XMLError.self) { try parse(text) }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        "\0", "\u{1}", "\u{1f}", "\u{fffe}", "\u{ffff}", "&#0;", "&#1;", "&#x1F;", "&#65534;",
        "&#xffff;", "&#xD800;", "&#x110000;",
    ])
    func `characters that are not allowed are replaced`(character: String) throws {
        let root = try parse(
            "<a><b>\(character)</b><c d='\(character)'>x\(character)&#xE9;é</c></a>")
        #expect(root.children.map(\.text) == ["\u{fffd}", "x\u{fffd}éé"])
    }

    @Test(arguments: [
        #"<!DOCTYPE a><a/>"#,
        #"<!DOCTYPE a [<!ENTITY b "c"><!ENTITY c "&b;&b;">]><a>&c;</a>"#,
        #"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>"#,
        #"<!DOCTYPE a SYSTEM "http://evil.test/a.dtd"><a/>"#,
        #"<!DOCTYPE a [<!ENTITY % b SYSTEM "file:///etc/passwd"> %b;]><a/>"#,
    ])
    func `a document type declaration is an error, so that no entity is expanded`(text: String) {
        #expect(throws: XMLError.documentType) { try parse(text) }
    }

    @Test func `depth, number of elements and text are limited`() throws {
        var limits = XMLLimits()
        limits.depth = 3
        _ = try parse("<a><b><c/></b></a>", limits)
        #expect(throws: XMLError.tooLarge) { try parse("<a><b><c><d/></c></b></a>", limits) }
        #expect(throws: XMLError.tooLarge) {
            try parse(String(repeating: "<a>", count: 1_000_000))
        }
        limits.elements = 4
        _ = try parse("<a><b/><b/><b/></a>", limits)
        #expect(throws: XMLError.tooLarge) { try parse("<a><b/><b/><b/><b/></a>", limits) }
        limits.textBytes = 10
        #expect(try parse("<a>0123456789</a>", limits).text == "0123456789")
        #expect(throws: XMLError.tooLarge) { try parse("<a>012345&amp;67890</a>", limits) }
        limits.textBytes = 4
        #expect(throws: XMLError.tooLarge) { try parse("<a>01234<b/>567890</a>", limits) }
    }

    @Test func `names, namespaces and markup are limited`() throws {
        let long = String(repeating: "n", count: 256)
        let root = try parse("<\(long) xmlns='\(long)' xmlns:\(long)='\(long)'/>")
        #expect(root.name == long && root.namespace == long)
        for text in [
            "<n\(long)/>", "<a xmlns='n\(long)'/>", "<a xmlns:n\(long)='b'/>",
            "<a \((0...32).map { "xmlns:n\($0)='b'" }.joined(separator: " "))/>",
            "<a b='\(String(repeating: "c", count: 400_000))'/>",
            "<a><!--\(String(repeating: "c", count: 400_000))--></a>",
            "<r>\(String(repeating: "<a b=''/>", count: 200_001))</r>",
        ] {
            #expect(throws: XMLError.tooLarge, "\(text.prefix(20))") { try parse(text) }
        }
        _ = try parse("<a b='\(String(repeating: "c", count: 200_000))'>\(text(300_000))</a>")
    }

    private func text(_ count: Int) -> String {
        String(repeating: "<b>text</b>", count: count / 11)
    }

    @Test func `a prefix is valid in the element that declares it`() throws {
        let root = try parse(
            "<a xmlns='1' xmlns:x='2'><x:b xmlns:x='3'><x:c/><c xmlns=''/></x:b><x:b/><b/></a>")
        #expect(root.children.map(\.namespace) == ["3", "2", "1"])
        #expect(root.children[0].children.map(\.namespace) == ["3", ""])
        #expect(throws: XMLError.malformed("unbound prefix")) {
            try parse("<a><x:b xmlns:x='1'/><x:b/></a>")
        }
    }

    @Test func `a library that is missing is an error`() {
        // The table of the process may be loaded already, so this test uses a name that was not loaded.
        #expect(throws: XMLError.self) { try XMLDocument.loadLibrary("libexpat-missing.so.1") }
    }

    @Test func `escaped text is read unchanged`() throws {
        let text = "<a href=\"x\" b='y'>&amp;\t\n\r ü 🏔\u{1fffe}</a>"
        #expect(try parse("<b>\(text.escapedForXML)</b>").text == text)
        #expect("a\u{0}\u{1}\u{ffff}b".escapedForXML == "ab")
    }
}
