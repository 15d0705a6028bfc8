internal import ProviderKit
internal import XML

/// A multi-status document.
///
/// Source: RFC 4918 §13 and §14.16.
struct MultiStatus {
    /// The properties of a file or folder.
    struct Response {
        /// The path at the server, percent-encoded.
        let path: String
        /// The properties with the status 200.
        let properties: XMLElement

        /// The last segment of the path, decoded; nil if it is not valid.
        var name: String? {
            path.split(separator: "/").last.flatMap { URLEncoding.bytes($0) }
                .flatMap { String(validating: $0, as: UTF8.self) }
        }
    }

    let responses: [Response]
    /// The lowest status of 400 or above of a property or file; nil if there is none.
    let failure: Int?

    /// Reads a document; nil if the root is not a multi-status element.
    init?(_ root: XMLElement) {
        guard root.name == "multistatus", root.namespace == Namespace.dav else { return nil }
        var failures: [Int] = []
        responses = root.children("response", in: Namespace.dav).compactMap { response in
            let parts = response.children("propstat", in: Namespace.dav)
            failures += ([response] + parts).compactMap(Self.status).filter { $0 >= 400 }
            guard let path = response.child("href", in: Namespace.dav)?.text, Self.isPath(path),
                let part = parts.first(where: { Self.status($0) == 200 }),
                let properties = part.child("prop", in: Namespace.dav)
            else { return nil }
            return Response(path: path, properties: properties)
        }
        failure = failures.min()
    }

    /// Returns the number of a status line, `HTTP/1.1 200 OK`.
    private static func status(_ element: XMLElement) -> Int? {
        let words = element.child("status", in: Namespace.dav)?.text.split(separator: " ")
        return words.flatMap { $0.count > 1 ? Int($0[1]) : nil }
    }

    /// Returns true for an absolute path that can be part of an address.
    private static func isPath(_ text: String) -> Bool {
        text.hasPrefix("/") && !text.hasPrefix("//")
            && text.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"?#\"\\<>".utf8.contains($0) }
            && !text.split(separator: "/").contains { $0 == "." || $0 == ".." }
            && text.utf8.count <= 3500
    }
}
