internal import Glibc

/// A search for secrets in the text of a service that was sent them.
///
/// A service may repeat a key in an error message. Such a text must not be shown, logged or stored. A secret is found as
/// it is, in any case, with percent, JSON or HTML escapes, in both forms of Base64, and with white space or markup in it.
package struct RepeatedSecrets: ~Copyable {
    /// The normalised forms of the secrets. Each ends with a NUL.
    private var patterns: Set<[UInt8]> = []

    /// Secrets with fewer bytes occur in texts by chance, and are not searched for.
    private static let minimumBytes = 4
    /// The size of the parts of a secret that are searched for separately. It is a multiple of three, so that each part
    /// has a form of its own in Base64.
    private static let partBytes = 12
    /// The largest number of escapes around each other that are removed.
    private static let maximumRounds = 4

    /// Prepares a search.
    ///
    /// - Parameters:
    ///   - secrets: The secrets that were sent.
    ///   - inParts: True if a part of a long secret is found, too.
    package init(_ secrets: [Secret], inParts: Bool) {
        for secret in secrets {
            secret.withBytes { bytes in
                let size =
                    inParts && bytes.count >= 2 * Self.partBytes ? Self.partBytes : bytes.count
                guard size >= Self.minimumBytes else { return }
                for start in stride(from: 0, through: bytes.count - size, by: size) {
                    addForms(Array(bytes[start..<start + size]))
                }
            }
        }
    }

    deinit {
        for var pattern in patterns { pattern.wipe() }
    }

    /// Adds a part of a secret as it is and in Base64, in which its digits depend on its position in the encoded text.
    private mutating func addForms(_ part: [UInt8]) {
        func add(_ form: [UInt8]) {
            let pattern = Self.normalize(form, removingEscapes: false).text
            if pattern.count >= Self.minimumBytes { patterns.insert(pattern + [0]) }
        }
        add(part)
        for offset in 0..<3 {
            let padded = [UInt8](repeating: 0, count: offset) + part
            // Digits that also encode a neighbour are left out.
            let whole = (8 * offset + 5) / 6..<8 * padded.count / 6
            add(Array(Base64.encodedBytes(padded)[whole]))
            add(Array(Base64.encodedBytesForURL(padded)[whole]))
        }
    }

    /// Returns true if a text contains one of the secrets.
    package func occur(in text: some Sequence<UInt8>) -> Bool {
        guard !patterns.isEmpty else { return false }
        var (text, isChanged) = Self.normalize(Array(text), removingEscapes: false)
        for _ in 0...Self.maximumRounds {
            if isFound(in: text) || isFound(in: Self.withoutMarkup(text)) { return true }
            (text, isChanged) = Self.normalize(text, removingEscapes: true)
            guard isChanged else { return false }
        }
        return false
    }

    /// Returns true if a normalised text, which has no NUL, contains a pattern.
    private func isFound(in text: [UInt8]) -> Bool {
        (text + [0]).withUnsafeBytes { text in
            patterns.contains { pattern in
                pattern.withUnsafeBytes { pattern in
                    guard let text = text.bindMemory(to: CChar.self).baseAddress,
                        let pattern = pattern.bindMemory(to: CChar.self).baseAddress
                    else { return false }
                    return strstr(text, pattern) != nil
                }
            }
        }
    }
}

extension HTTPResponse {
    /// Returns the response without the texts that repeat secrets which the service was sent: the header fields, and the
    /// body as a whole.
    package func withholding(_ secrets: [Secret]) -> HTTPResponse {
        let repeated = RepeatedSecrets(secrets, inParts: true)
        var response = self
        response.headers.removeAll { _, value in repeated.occur(in: value.utf8) }
        if repeated.occur(in: body) { response.body = [] }
        return response
    }
}

// MARK: The removal of escapes

extension RepeatedSecrets {
    /// The normalised beginnings and ends of markup, and true if a parser keeps the text between them.
    private static let markup: [(start: [UInt8], end: [UInt8], keepsText: Bool)] = [
        ("<![cdata[", "]]>", true), ("<!--", "-->", false), ("<?", "?>", false), ("</", ">", false),
        ("<", ">", false),
    ].map { (Array($0.utf8), Array($1.utf8), $2) }

    /// Returns a normalised text without comments, processing instructions, tags and the marks of CDATA sections.
    private static func withoutMarkup(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var (rest, kinds) = (text[...], markup)
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            result += rest[..<start]
            rest = rest[start...]
            guard let index = kinds.firstIndex(where: { rest.starts(with: $0.start) }),
                kinds[index].start.count > 1 || rest.dropFirst().first?.isLetter == true
            else {
                result.append(rest.removeFirst())
                continue
            }
            let kind = kinds[index]
            guard let end = rest.dropFirst(kind.start.count).firstRange(of: kind.end) else {
                // A text may have very many beginnings without an end, which is searched once.
                kinds.remove(at: index)
                continue
            }
            if kind.keepsText { result += rest[(start + kind.start.count)..<end.lowerBound] }
            rest = rest[end.upperBound...]
        }
        return result + rest
    }

    /// Returns a text in lower case without white space and invisible characters, and with one level of escapes removed
    /// if requested.
    private static func normalize(
        _ text: [UInt8], removingEscapes: Bool
    ) -> (text: [UInt8], isChanged: Bool) {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var isChanged = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            if removingEscapes, escapeStarts.contains(byte),
                let (bytes, length) = escape(text[index...])
            {
                isChanged = true
                index += length
                result += bytes.lazy.filter { $0 > 0x20 }.map(\.lowercased)
            } else if byte >= 0xc2, let length = lengthOfInvisible(text[index...]) {
                isChanged = true
                index += length
            } else {
                index += 1
                // Control characters and white space are left out.
                if byte > 0x20 { result.append(byte.lowercased) }
            }
        }
        return (result, isChanged)
    }

    /// Returns the length of the character that a text begins with if it is a blank or has no width; nil if not.
    private static func lengthOfInvisible(_ text: ArraySlice<UInt8>) -> Int? {
        var parser = UTF8.ForwardParser()
        var iterator = text.makeIterator()
        guard case .valid(let encoded) = parser.parseScalar(from: &iterator) else { return nil }
        let properties = UTF8.decode(encoded).properties
        let isInvisible = properties.isWhitespace || properties.isDefaultIgnorableCodePoint
        return isInvisible ? encoded.count : nil
    }

    private static let escapeStarts: [UInt8] = Array("%\\&".utf8)

    /// Returns the bytes that a text begins with in escaped form, and the length of this form.
    private static func escape(_ text: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        func number(_ start: Int, _ count: Int) -> UInt32? {
            let digits = text.dropFirst(start).prefix(count)
            guard digits.count == count else { return nil }
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        }
        func byte(_ start: Int) -> (bytes: [UInt8], length: Int)? {
            number(start, 2).map { ([UInt8($0)], start + 2) }
        }
        func scalar(_ start: Int, _ count: Int) -> (bytes: [UInt8], length: Int)? {
            number(start, count).flatMap(Unicode.Scalar.init).map {
                (Array(String($0).utf8), start + count)
            }
        }
        switch (text.first, text.dropFirst().first) {
        case (UInt8(ascii: "%"), _): return byte(1)
        case (UInt8(ascii: "\\"), UInt8(ascii: "u")): return scalar(2, 4)
        case (UInt8(ascii: "\\"), UInt8(ascii: "x")): return byte(2)
        // A letter in an escape stands for white space.
        case (UInt8(ascii: "\\"), let second?): return (second.isLetter ? [] : [second], 2)
        case (UInt8(ascii: "&"), _):
            let (bytes, length) = CharacterReference.resolve(text, inAttribute: false)
            return length > 1 ? (bytes, length) : nil
        default: return nil
        }
    }
}
