internal import FoundationEssentials
internal import ProviderKit
internal import WebService

/// A request to the API.
struct APICall: Sendable {
    let method: HTTPRequest.Method
    /// The segments of the path below `/api`, not yet escaped.
    let path: [String]
    /// The parameters, not yet escaped.
    var query: [(name: String, value: String)] = []
    /// The body in JSON; empty for none.
    var body: [UInt8] = []
    /// The item that is requested, for error messages.
    let subject: Refusal.Subject
    /// The permission that an API key needs; nil if every key has it.
    let permission: String?
    /// The maximum size of the response in bytes.
    var maximumBytes = 16 << 20

    init(
        _ method: HTTPRequest.Method, _ path: [String],
        _ query: [(name: String, value: String)] = [], about subject: Refusal.Subject,
        permission: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.subject = subject
        self.permission = permission
    }

    /// Adds a body in JSON.
    func with(_ body: some Encodable) throws -> APICall {
        var call = self
        call.body = Array(try JSONEncoder().encode(body))
        return call
    }
}
