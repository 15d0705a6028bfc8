internal import ProviderKit

/// The body of a request to the token endpoint: a form whose secrets never become a `String`.
nonisolated struct SecretForm {
    private(set) var bytes: [UInt8] = []

    init() {
        // Growing the array would leave copies of secrets in memory. Known tokens fit; a longer form leaves such
        // copies.
        bytes.reserveCapacity(8 << 10)
    }

    mutating func append(_ name: String, _ value: String) {
        appendName(name)
        URLEncoding.escape(value.utf8, into: &bytes)
    }

    mutating func append(_ name: String, _ value: Secret) {
        appendName(name)
        value.withBytes { URLEncoding.escape($0, into: &bytes) }
    }

    private mutating func appendName(_ name: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        URLEncoding.escape(name.utf8, into: &bytes)
        bytes.append(UInt8(ascii: "="))
    }

    /// Returns a request with this form.
    func request(to url: String) -> HTTPRequest {
        var request = HTTPRequest(.post, url)
        request.headers.append("Content-Type", "application/x-www-form-urlencoded")
        request.headers.append("Accept", "application/json")
        request.body = bytes
        return request
    }

    mutating func wipe() { bytes.wipe() }
}
