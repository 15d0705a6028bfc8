internal import CExpat
internal import Glibc
internal import Synchronization

/// The parser of XML documents.
///
/// It reads no other file, and expands no entities but the five of XML: a document type declaration is an error. Its
/// time and memory are linear in the size of the document, also for an invalid one.
package enum XMLDocument {
    /// Parses a document, and reads it off the caller's thread.
    ///
    /// - Parameters:
    ///   - bytes: The document, as for ``parse(_:limits:)``.
    ///   - body: Reads the root element. The elements are released before this function returns.
    /// - Returns: The result of `body`.
    /// - Throws: ``XMLError``.
    @concurrent package static func read<Value: Sendable>(
        _ bytes: [UInt8], _ body: @Sendable (XMLElement) -> Value
    ) async throws -> Value {
        body(try parse(bytes))
    }

    /// Parses a document. Characters that XML does not allow are replaced by U+FFFD: names of files can have them.
    ///
    /// - Parameters:
    ///   - bytes: The document, in UTF-8, UTF-16, ISO-8859-1 or US-ASCII, as it states. Characters are replaced only in
    ///     UTF-8.
    ///   - limits: The limits of the document.
    /// - Returns: The root element.
    /// - Throws: ``XMLError``.
    package static func parse(
        _ bytes: [UInt8], limits: XMLLimits = XMLLimits()
    ) throws(XMLError) -> XMLElement {
        do throws(XMLError) {
            return try parseAllowed(bytes, limits)
        } catch {
            guard case .malformed = error, let allowed = replacingForbidden(in: bytes)
            else { throw error }
            return try parseAllowed(allowed, limits)
        }
    }

    /// Parses a document whose characters are allowed.
    ///
    /// The corresponding C function is `XML_Parse`.
    private static func parseAllowed(
        _ bytes: [UInt8], _ limits: XMLLimits
    ) throws(XMLError) -> XMLElement {
        let expat = try loadLibrary()
        // The builder resolves namespaces: libexpat would copy a namespace for each element and attribute.
        guard let parser = expat.ParserCreate(nil) else { throw .unavailable("out of memory") }
        defer { expat.ParserFree(parser) }
        let builder = Builder(limits) { _ = expat.StopParser(parser, XML_Bool(0)) }
        expat.SetUserData(parser, Unmanaged.passUnretained(builder).toOpaque())
        expat.SetElementHandler(
            parser,
            { data, name, attributes in
                guard let name, let attributes else { return }
                Builder.of(data)?.start(name, attributes)
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
        var status = XML_STATUS_OK
        var start = 0
        repeat {
            let part = bytes[start..<min(start + limits.markupBytes / 4, bytes.count)]
            status = withExtendedLifetime(builder) {
                part.withUnsafeBytes {
                    expat.Parse(
                        parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self),
                        Int32($0.count), part.endIndex == bytes.count ? 1 : 0)
                }
            }
            start = part.endIndex
            // The parser keeps an incomplete tag, and takes a multiple of its size when the tag is complete.
            if start - expat.GetCurrentByteIndex(parser) > limits.markupBytes {
                builder.fail(.tooLarge)
            }
        } while status == XML_STATUS_OK && builder.error == nil && start < bytes.count
        if let error = builder.error { throw error }
        guard status == XML_STATUS_OK, let root = builder.root else {
            let reason = expat.ErrorString(expat.GetErrorCode(parser))
            throw .malformed(reason.map { String(cString: $0) } ?? "no element found")
        }
        return root
    }

    // MARK: The library

    /// libexpat, loaded when it is first needed, for the rest of the program's life.
    private static let loaded = Mutex<shim_expat?>(nil)

    /// Loads the library, unless that was done. After a failure, the next call tries again.
    ///
    /// - Returns: The functions of the library.
    /// - Throws: ``XMLError/unavailable(_:)``.
    private static func loadLibrary() throws(XMLError) -> shim_expat {
        try loaded.withLock { loaded throws(XMLError) in
            if let loaded { return loaded }
            let library = try loadLibrary("libexpat.so.1")
            loaded = library
            return library
        }
    }

    /// Loads a library. It stays loaded.
    ///
    /// The corresponding C function is `dlopen`.
    static func loadLibrary(_ name: String) throws(XMLError) -> shim_expat {
        var table = shim_expat()
        if let reason = shim_expat_load(&table, name) {
            throw .unavailable("libexpat could not be loaded: \(String(cString: reason))")
        }
        return table
    }
}

/// Builds the tree of a document from the calls of the parser.
private final class Builder {
    private(set) var root: XMLElement?
    private(set) var error: XMLError?
    private let limits: XMLLimits
    private let stop: () -> Void
    /// The elements that have begun and not ended, with the number of ``namespaces`` before each of them.
    private var open: [(element: XMLElement, outerNamespaces: Int)] = []
    private var count = 0
    private var attributeCount = 0
    /// The namespaces in scope by prefix, the innermost one last.
    private var namespaces: [(prefix: String, namespace: String)] = []
    /// The names of elements by their form in the document, as long as ``namespaces`` are the same.
    private var names: [String: XMLName] = [:]

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

    /// Begins an element.
    ///
    /// - Parameters:
    ///   - name: The name in the document, with its prefix.
    ///   - attributes: The names and values of the attributes in turn, and a null pointer.
    func start(
        _ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>
    ) {
        guard error == nil else { return }
        count += 1
        guard open.count < limits.depth, count <= limits.elements else { return fail(.tooLarge) }
        let outerNamespaces = namespaces.count
        var next = attributes
        while let attribute = next[0], let value = next[1] {
            next += 2
            attributeCount += 1
            if strncmp(attribute, "xmlns", 5) == 0 { declare(attribute + 5, value) }
        }
        guard attributeCount <= limits.elements else { return fail(.tooLarge) }
        guard error == nil, let text = text(name), let name = self.name(text) else { return }
        open.append((XMLElement(name: name), outerNamespaces))
    }

    /// Adds a namespace, unless `suffix`, the text after `xmlns`, is the rest of another name.
    private func declare(_ suffix: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) {
        let colon = CChar(bitPattern: UInt8(ascii: ":"))
        guard suffix[0] == 0 || suffix[0] == colon else { return }
        guard namespaces.count < limits.namespaces else { return fail(.tooLarge) }
        guard let prefix = text(suffix[0] == 0 ? suffix : suffix + 1), let namespace = text(value)
        else { return }
        namespaces.append((prefix, namespace))
        names = [:]
    }

    /// Returns a name or a namespace; nil for one that is too long.
    private func text(_ text: UnsafePointer<CChar>) -> String? {
        guard strnlen(text, limits.nameBytes + 1) <= limits.nameBytes else {
            fail(.tooLarge)
            return nil
        }
        return String(cString: text)
    }

    private func name(_ text: String) -> XMLName? {
        if let known = names[text] { return known }
        let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        let prefix = colon.map { text[..<$0] } ?? ""
        let namespace = namespaces.last { $0.prefix == prefix }?.namespace
        guard prefix.isEmpty || namespace != nil else {
            fail(.malformed("unbound prefix"))
            return nil
        }
        let local = colon.map { String(text[text.utf8.index(after: $0)...]) } ?? text
        let name = XMLName(namespace: namespace ?? "", local: local)
        names[text] = name
        return name
    }

    func end() {
        guard error == nil, let (element, outerNamespaces) = open.popLast() else { return }
        if outerNamespaces < namespaces.count {
            namespaces.removeLast(namespaces.count - outerNamespaces)
            names = [:]
        }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].element.append(element)
        }
    }

    func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard error == nil, !open.isEmpty else { return }
        let last = open.count - 1
        guard open[last].element.text.utf8.count + bytes.count <= limits.textBytes else {
            return fail(.tooLarge)
        }
        open[last].element.append(bytes)
    }
}
