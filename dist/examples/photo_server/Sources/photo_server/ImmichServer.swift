import FoundationEssentials
import ProviderKit

/// The API of a server. Source: https://api.immich.app
struct ImmichServer: Sendable {
    let base: String
    let http: any HTTPClient

    init(_ account: AccountIdentity, _ ports: SessionPorts) {
        base = Self.origin(account.server) + "/api"
        http = ports.http
    }

    /// Returns the origin of a server that the user entered as a host or an address.
    static func origin(_ name: String) -> String { name.contains("://") ? name : "https://\(name)" }

    /// Sends a search or, without one, a GET request, and decodes the response.
    func fetch<Value: Decodable>(_ path: String, _ search: Search? = nil) async throws -> Value {
        let body = try await send(search == nil ? .get : .post, path, search)
        do {
            return try JSONDecoder().decode(Value.self, from: Data(body))
        } catch {
            throw ProviderError.failed("Immich sent an invalid response.")
        }
    }

    /// Sends a request. The daemon adds the API key.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: (some Encodable)?
    ) async throws -> [UInt8] {
        var request = HTTPRequest(method, "\(base)/\(path)")
        if let body { request.body = Array(try JSONEncoder().encode(body)) }
        request.headers = ["Accept": "application/json", "Content-Type": "application/json"]
        let response = try await http.send(request)
        // The API never returns HTML. A web page comes from another server, such as the login page of a network.
        guard !response.isHTML else {
            throw ProviderError.failed("Immich sent a web page instead of JSON.")
        }
        switch response.status {
        case 200..<300: return response.body
        case 401: throw ProviderError.unauthorized
        case 403:
            throw ProviderError.denied(
                "The API key has no permission for this; create another key.")
        case 429:
            let delay = response.retryAfter(now: .now)
            throw ProviderError.rateLimited(until: delay.map { Timestamp.now + $0 })
        case 400, 404: throw ProviderError.notFound("Immich has no such photo or album.")
        default: throw ProviderError.failed("Immich returned status \(response.status).")
        }
    }
}
