package import ProviderKit
internal import Synchronization

/// An HTTP client that keeps the cookies of an account's server in memory, so that the server continues a session
/// instead of starting one for each request.
package final class CookieClient: HTTPClient {
    private let base: any HTTPClient
    private let origin: String
    private let field: (name: String, value: String)
    /// The values by their names.
    private let cookies = Mutex<[String: String]>([:])

    /// The largest number of cookies.
    private static let maximumCount = 30
    /// The maximum length of a cookie with its attributes, in bytes.
    private static let maximumLength = 4096

    /// - Parameters:
    ///   - base: Sends the requests.
    ///   - origin: The origin of the server, which alone receives the cookies.
    ///   - field: A header field of all requests to the server.
    package init(_ base: any HTTPClient, of origin: String, field: (name: String, value: String)) {
        self.base = base
        self.origin = origin
        self.field = field
    }

    package func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await exchange(request) { try await base.send($0) }
    }

    package func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await exchange(request) {
            try await base.download($0, into: file, progress: progress)
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ send: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        guard WebAddress(request.url)?.origin == origin else { return try await send(request) }
        var request = request
        request.headers.append(field.name, field.value)
        let known = cookies.withLock { $0 }
        if !known.isEmpty {
            let text = known.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
            request.headers.append("Cookie", text)
        }
        let response = try await send(request)
        if !response.leftOrigin { store(response.headers.all("Set-Cookie")) }
        return response
    }

    /// Stores cookies, whose values no header field can be part of. A cookie that ends at once is removed.
    ///
    /// Source: RFC 6265 §5.2.
    private func store(_ fields: [String]) {
        for field in fields
        where field.utf8.count <= Self.maximumLength && field.utf8.allSatisfy({ 0x20..<0x7f ~= $0 })
        {
            let parts = field.split(separator: ";", omittingEmptySubsequences: false)
            let pair = parts[0].split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = pair[0].filter { $0 != " " }
            guard pair.count == 2, !name.isEmpty else { continue }
            let isRemoved =
                pair[1] == "deleted"
                || parts.contains { $0.lowercased().filter { $0 != " " } == "max-age=0" }
            cookies.withLock { cookies in
                guard !isRemoved else { return cookies[name] = nil }
                if cookies[name] != nil || cookies.count < Self.maximumCount {
                    cookies[name] = String(pair[1])
                }
            }
        }
    }
}
