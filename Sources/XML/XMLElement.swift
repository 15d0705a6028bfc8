/// An element of an XML document, with its text and its children. Attributes are left out.
package struct XMLElement: Sendable {
    private let fullName: XMLName
    /// The text of the element, without that of its children. Text around children is left out.
    package private(set) var text = ""
    /// The children, in order.
    package private(set) var children: [XMLElement] = []

    init(name: XMLName) { fullName = name }

    /// The namespace; empty for none.
    package var namespace: String { fullName.namespace }

    /// The name without a prefix.
    package var name: String { fullName.local }

    /// Returns the first child with a name in a namespace; in any namespace if it is nil.
    package func child(_ name: String, in namespace: String? = nil) -> XMLElement? {
        children.first { $0.name == name && $0.namespace == namespace ?? $0.namespace }
    }

    /// Returns the children with a name in a namespace.
    package func children(_ name: String, in namespace: String) -> [XMLElement] {
        children.filter { $0.name == name && $0.namespace == namespace }
    }

    mutating func append(_ child: XMLElement) {
        children.append(child)
        // White space between elements.
        text = ""
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if children.isEmpty { text += String(decoding: bytes, as: UTF8.self) }
    }
}

/// The name of elements, which equal elements of a document share.
final class XMLName: Sendable {
    let namespace: String
    let local: String

    init(namespace: String, local: String) {
        self.namespace = namespace
        self.local = local
    }
}

/// A document that cannot be read. The texts are for the log.
package enum XMLError: Error, Hashable, Sendable {
    /// The document is not well-formed, in the words of libexpat.
    case malformed(String)
    /// The document has a document type declaration, which could define entities.
    case documentType
    /// The document exceeds a limit of ``XMLLimits``.
    case tooLarge
    /// The library cannot be loaded or used.
    case unavailable(String)
}

/// The limits of a document.
package struct XMLLimits: Hashable, Sendable {
    /// The largest number of elements within each other.
    package var depth = 32
    /// The largest number of elements, and of attributes.
    package var elements = 200_000
    /// The largest size of the text of an element, in bytes.
    package var textBytes = 64 << 10
    /// The largest size of a name, and of a namespace, in bytes.
    package var nameBytes = 256
    /// The largest size of a tag with its attributes, and of a comment, in bytes.
    package var markupBytes = 256 << 10
    /// The largest number of namespaces that elements within each other declare.
    package var namespaces = 32

    /// Creates the default limits.
    package init() {}
}
