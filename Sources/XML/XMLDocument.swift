internal import CExpat

/// The parser of XML documents.
///
/// It reads no other file, and expands no entities but the five of XML: a document type declaration is an error.
package enum XMLDocument {
    /// Parses a document.
    ///
    /// - Parameters:
    ///   - bytes: The document, in UTF-8, UTF-16, ISO-8859-1 or US-ASCII, as it states.
    ///   - limits: The limits of the document.
    /// - Returns: The root element.
    /// - Throws: ``XMLError``.
    ///
    /// The corresponding C function is `XML_Parse`.
    package static func parse(
        _ bytes: [UInt8], limits: XMLLimits = XMLLimits()
    ) throws(XMLError) -> XMLElement {
        let expat = try ExpatLibrary.load()
        guard let count = Int32(exactly: bytes.count) else { throw .tooLarge }
        guard let parser = expat.ParserCreateNS(nil, XML_Char(Builder.separator)) else {
            throw .unavailable("out of memory")
        }
        defer { expat.ParserFree(parser) }
        let builder = Builder(limits) { _ = expat.StopParser(parser, XML_Bool(0)) }
        expat.SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        expat.SetElementHandler(
            parser,
            { data, name, _ in
                guard let name else { return }
                Builder.of(data)?.start(String(cString: name))
            },
            { data, _ in Builder.of(data)?.end() })
        expat.SetCharacterDataHandler(parser) { data, text, count in
            guard let text else { return }
            text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
                Builder.of(data)?.append(UnsafeBufferPointer(start: $0, count: Int(count)))
            }
        }
        expat.SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            Builder.of(data)?.fail(.documentType)
        }
        let status = withExtendedLifetime(builder) {
            bytes.withUnsafeBytes {
                expat.Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), count, 1)
            }
        }
        if let error = builder.error { throw error }
        guard status == XML_STATUS_OK, let root = builder.root else {
            let reason = expat.ErrorString(expat.GetErrorCode(parser))
            throw .malformed(reason.map { String(cString: $0) } ?? "no element found")
        }
        return root
    }
}

/// Builds the tree of a document from the calls of the parser.
private final class Builder {
    /// The byte between the namespace and the name of an element. No namespace contains it.
    static let separator = UInt8(ascii: "\n")

    private(set) var root: XMLElement?
    private(set) var error: XMLError?
    private let limits: XMLLimits
    private let stop: () -> Void
    /// The elements that have begun and not ended.
    private var open: [XMLElement] = []
    private var count = 0

    init(_ limits: XMLLimits, stop: @escaping () -> Void) {
        self.limits = limits
        self.stop = stop
    }

    static func of(_ data: UnsafeMutableRawPointer?) -> Builder? {
        data.map { Unmanaged<Builder>.fromOpaque($0).takeUnretainedValue() }
    }

    func fail(_ error: XMLError) {
        // The parser may still call for the event in progress.
        if self.error == nil { self.error = error }
        stop()
    }

    func start(_ name: String) {
        guard error == nil else { return }
        count += 1
        guard open.count < limits.depth, count <= limits.elements else { return fail(.tooLarge) }
        let end = name.utf8.lastIndex(of: Self.separator)
        open.append(
            XMLElement(
                namespace: end.map { String(name[..<$0]) } ?? "",
                name: end.map { String(name[name.utf8.index(after: $0)...]) } ?? name))
    }

    func end() {
        guard error == nil, let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].append(element)
        }
    }

    func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard error == nil, !open.isEmpty else { return }
        let last = open.count - 1
        guard open[last].text.utf8.count + bytes.count <= limits.textBytes else {
            return fail(.tooLarge)
        }
        open[last].append(bytes)
    }
}
