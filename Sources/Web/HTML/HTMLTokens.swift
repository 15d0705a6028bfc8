/// Splits HTML into tags and text.
///
/// Comments, declarations, and the contents of `script`, `style` and similar elements are skipped.
///
/// Source: WHATWG HTML §13.2.5.
package struct HTMLTokens {
    package enum Token {
        /// UTF-8, with resolved character references.
        case text([UInt8])
        case start(Tag)
        /// The name, in lower case.
        case end(String)
    }

    package struct Tag {
        /// In lower case.
        package let name: String
        package fileprivate(set) var attributes: [(name: String, value: String)] = []

        /// The value of an attribute; the first one if the name occurs several times.
        package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }
    }

    /// The number of attributes that are stored for each tag.
    private static let maximumAttributes = 32
    /// Elements whose contents are not parsed and not displayed.
    private static let rawElements: Set = [
        "script", "style", "iframe", "noembed", "noframes", "noscript", "textarea", "title", "xmp",
        "plaintext",
    ]

    private let input: [UInt8]
    private var position = 0
    /// The element whose contents are skipped next.
    private var rawElement: String?

    package init(_ input: [UInt8]) { self.input = input }

    /// Returns the next token; nil at the end. Input that ends inside a tag is cut off before the tag.
    package mutating func next() -> Token? {
        while position < input.count {
            if let name = rawElement {
                rawElement = nil
                skipRaw(name)
            } else if input[position] == UInt8(ascii: "<") {
                if let token = markup() { return token }
            } else {
                return .text(takeText())
            }
        }
        return nil
    }

    private subscript(at offset: Int) -> UInt8? {
        position + offset < input.count ? input[position + offset] : nil
    }

    // MARK: Text

    private mutating func takeText() -> [UInt8] {
        var text: [UInt8] = []
        while let byte = self[at: 0], byte != UInt8(ascii: "<") {
            if byte == UInt8(ascii: "&") {
                text += takeReference(inAttribute: false)
            } else {
                // NUL is dropped in text (§13.2.6.4.7).
                if byte != 0 { text.append(byte) }
                position += 1
            }
        }
        return text
    }

    private mutating func takeReference(inAttribute: Bool) -> [UInt8] {
        let (bytes, length) = CharacterReference.resolve(
            input[position...], inAttribute: inAttribute)
        position += length
        return bytes
    }

    /// Skips to the end tag of an element.
    private mutating func skipRaw(_ name: String) {
        let name = Array(name.utf8)
        while position < input.count {
            if self[at: 0] == UInt8(ascii: "<"), self[at: 1] == UInt8(ascii: "/"),
                position + 2 + name.count <= input.count,
                zip(name, input[(position + 2)...]).allSatisfy({ $0 == $1.lowercased }),
                self[at: 2 + name.count].map({ !$0.isLetter }) ?? true
            {
                return
            }
            position += 1
        }
    }

    // MARK: Markup

    /// Parses markup that begins with `<`; returns nil for skipped markup.
    private mutating func markup() -> Token? {
        switch self[at: 1] {
        case let byte? where byte.isLetter:
            position += 1
            return tag(isEnd: false)
        case UInt8(ascii: "/"):
            guard let byte = self[at: 2] else {
                position += 2
                return .text(Array("</".utf8))
            }
            guard byte.isLetter else {
                skipMarkup()
                return nil
            }
            position += 2
            return tag(isEnd: true)
        case UInt8(ascii: "!"), UInt8(ascii: "?"):
            skipMarkup()
            return nil
        default:
            position += 1
            return .text([UInt8(ascii: "<")])
        }
    }

    /// Skips a comment, a declaration, or other markup that is not a tag.
    private mutating func skipMarkup() {
        guard skip("<!--") else {
            while position < input.count, input[position] != UInt8(ascii: ">") { position += 1 }
            position += 1
            return
        }
        // `<!-->` and `<!--->` are whole comments.
        if skip(">") || skip("->") { return }
        while position < input.count {
            if self[at: 0] == UInt8(ascii: "-"), skip("-->") || skip("--!>") { return }
            position += 1
        }
    }

    /// Skips a text if it follows.
    ///
    /// - Returns: True if the text followed.
    private mutating func skip(_ text: StaticString) -> Bool {
        let follows = text.withUTF8Buffer { input[position...].starts(with: $0) }
        if follows { position += text.utf8CodeUnitCount }
        return follows
    }

    private mutating func skipSpace() {
        while let byte = self[at: 0], byte.isSpace { position += 1 }
    }

    private mutating func takeName(_ isEnd: (UInt8) -> Bool) -> String {
        var name: [UInt8] = []
        while let byte = self[at: 0], !isEnd(byte) {
            name.append(byte.lowercased)
            position += 1
        }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func tag(isEnd: Bool) -> Token? {
        let name = takeName { $0.isSpace || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ">") }
        guard let attributes = takeAttributes() else { return nil }
        if isEnd { return .end(name) }
        if Self.rawElements.contains(name) { rawElement = name }
        return .start(Tag(name: name, attributes: attributes))
    }

    /// Parses attributes through the closing `>`; returns nil if the input has no `>`.
    private mutating func takeAttributes() -> [(name: String, value: String)]? {
        var attributes: [(name: String, value: String)] = []
        while true {
            while let byte = self[at: 0], byte.isSpace || byte == UInt8(ascii: "/") {
                position += 1
            }
            guard let byte = self[at: 0] else { return nil }
            if byte == UInt8(ascii: ">") {
                position += 1
                return attributes
            }
            // A `=` at the beginning is part of the name.
            var name = ""
            if byte == UInt8(ascii: "=") {
                name = "="
                position += 1
            }
            name += takeName {
                $0.isSpace
                    || [UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "=")].contains($0)
            }
            skipSpace()
            var value: [UInt8] = []
            if self[at: 0] == UInt8(ascii: "=") {
                position += 1
                skipSpace()
                guard let taken = takeValue() else { return nil }
                value = taken
            }
            if attributes.count < Self.maximumAttributes {
                attributes.append((name, String(decoding: value, as: UTF8.self)))
            }
        }
    }

    /// Parses a quoted or unquoted attribute value; returns nil if the input ends before the value does.
    private mutating func takeValue() -> [UInt8]? {
        guard let quote = self[at: 0] else { return nil }
        let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        if isQuoted { position += 1 }
        var value: [UInt8] = []
        while let byte = self[at: 0] {
            if isQuoted ? byte == quote : byte.isSpace || byte == UInt8(ascii: ">") {
                if isQuoted { position += 1 }
                return value
            }
            if byte == UInt8(ascii: "&") {
                value += takeReference(inAttribute: true)
            } else {
                value.append(byte)
                position += 1
            }
        }
        return nil
    }
}

extension UInt8 {
    package var isLetter: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
    }
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
    /// White space within tags.
    var isSpace: Bool {
        self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0c || self == 0x0d
    }
    /// An ASCII letter in lower case; anything else as it is.
    var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self + 32 : self }
}
