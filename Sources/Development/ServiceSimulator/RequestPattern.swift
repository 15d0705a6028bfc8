internal import Glibc

/// A pattern for requests: an optional method and a path, in which `*` matches anything except a slash. Examples:
/// `POST /photos/*/like`; `*` alone matches every request.
package struct RequestPattern: Hashable, Sendable, ExpressibleByStringLiteral {
    package let text: String
    private let method: String?
    private let path: String

    package init(_ text: String) {
        self.text = text
        let parts = text.split(separator: " ", maxSplits: 1)
        method = parts.count == 2 ? String(parts[0]) : nil
        path = String(parts.last ?? "*")
    }

    package init(stringLiteral text: String) { self.init(text) }

    func matches(_ request: RecordedRequest) -> Bool {
        guard method == nil || method == request.method else { return false }
        return path == "*" || fnmatch(path, request.path, FNM_PATHNAME) == 0
    }
}
