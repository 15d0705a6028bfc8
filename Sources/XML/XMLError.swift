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
