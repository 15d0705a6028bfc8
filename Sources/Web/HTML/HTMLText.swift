/// Converts HTML to the text that a browser displays: paragraphs and lines, without hidden elements.
///
/// A small parser for the HTML of posts, profiles and descriptions. It never fails, reads each byte a bounded number of times, and
/// omits markup that it does not know.
///
/// Source: WHATWG HTML §13.2.5 for the tokens, §15.3 for what is a block and what is not rendered, the
/// algorithm of `innerText` for line breaks; the classes `invisible`, `ellipsis` and `quote-inline` of the Fediverse.
package struct HTMLText {
    /// The number of bytes of HTML that are read; servers allow statuses of some thousand characters.
    package static let maximumInput = 256 << 10

    /// The size after which parsing stops; `ServiceText` truncates to less.
    private static let maximumOutput = 64 << 10
    /// The maximum depth of the element stack. Deeper elements are treated as part of the element at this depth.
    private static let maximumDepth = 64

    /// The displayed text, built from the tokens in order.
    private var bytes: [UInt8] = []
    private var elements: [(name: String, isHidden: Bool, endsInEllipsis: Bool)] = []
    private var hidden = 0
    private var preformatted = 0
    /// The number of line breaks to insert before the next text.
    private var breaks = 0
    private var hasSpace = false

    /// Returns the displayed text of `html`.
    package static func plain(_ html: String) -> String {
        var tokens = HTMLTokens(Array(html.utf8.prefix(maximumInput)))
        var page = HTMLText()
        while page.bytes.count <= maximumOutput, let token = tokens.next() {
            switch token {
            case .text(let bytes): page.append(bytes)
            case .start(let tag): page.open(tag)
            case .end(let name): page.close(name)
            }
        }
        return String(decoding: page.bytes, as: UTF8.self)
    }

    private mutating func append(_ text: some Sequence<UInt8>) {
        guard hidden == 0 else { return }
        for byte in text {
            switch byte {
            case UInt8(ascii: "\n") where preformatted > 0: lineBreak()
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), 0x0c,
                UInt8(ascii: "\r"):
                if preformatted > 0, byte != UInt8(ascii: "\r") {
                    put(byte)
                } else {
                    hasSpace = true
                }
            default: put(byte)
            }
        }
    }

    private mutating func put(_ byte: UInt8) {
        if !bytes.isEmpty {
            bytes += repeatElement(UInt8(ascii: "\n"), count: breaks)
            if hasSpace, breaks == 0, bytes.last != UInt8(ascii: "\n") {
                bytes.append(UInt8(ascii: " "))
            }
        }
        breaks = 0
        hasSpace = false
        bytes.append(byte)
    }

    private mutating func lineBreak() {
        guard hidden == 0 else { return }
        // At most one empty line.
        breaks = min(breaks + 1, 2)
        hasSpace = false
    }

    private mutating func block(_ name: String) {
        guard hidden == 0 else { return }
        breaks = max(breaks, Self.paragraphs.contains(name) ? 2 : 1)
        hasSpace = false
    }

    private mutating func open(_ tag: HTMLTokens.Tag) {
        switch tag.name {
        case "br": return lineBreak()
        case "hr": return block("hr")
        case "img":
            // Some servers send their custom emoji as images.
            if let alternative = tag["alt"] { append(alternative.utf8) }
            return
        case "wbr", "input", "link", "meta", "source", "track", "col", "embed", "area", "base":
            return
        default: break
        }
        if Self.blocks.contains(tag.name) { block(tag.name) }
        guard elements.count < Self.maximumDepth else { return }
        let classes = tag["class"]?.split(separator: " ") ?? []
        let isHidden =
            Self.unrendered.contains(tag.name) || tag["hidden"] != nil
            || classes.contains("invisible") || classes.contains("quote-inline")
        elements.append((tag.name, isHidden, classes.contains("ellipsis")))
        if isHidden { hidden += 1 }
        if tag.name == "pre" { preformatted += 1 }
    }

    private mutating func close(_ name: String) {
        if name == "br" { return lineBreak() }
        if let index = elements.lastIndex(where: { $0.name == name }) {
            for element in elements[index...].reversed() {
                if element.endsInEllipsis { append("…".utf8) }
                if element.isHidden { hidden -= 1 }
                if element.name == "pre" { preformatted -= 1 }
            }
            elements.removeSubrange(index...)
        }
        if Self.blocks.contains(name) { block(name) }
    }

    private static let paragraphs: Set = [
        "p", "blockquote", "ul", "ol", "dl", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "table",
    ]
    private static let blocks: Set = paragraphs.union([
        "address", "article", "aside", "body", "center", "dd", "details", "dialog", "dir", "div",
        "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html",
        "legend", "li", "listing", "main", "menu", "nav", "optgroup", "option", "search",
        "section", "summary", "tr", "caption", "tbody", "thead", "tfoot",
    ])
    private static let unrendered: Set = [
        "head", "template", "datalist", "rp", "select", "audio", "video", "object", "canvas", "svg",
        "math",
    ]
}
