internal import Glibc

/// The header fields of a message, in their order. Names compare without case.
public struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var fields: [Field] = []

    public struct Field: Hashable, Sendable {
        public let name: String
        public let value: String
    }

    /// The names, in lower case, of the fields that frame a message: the HTTP client sets them.
    package static let reserved: Set = [
        "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    ]

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// The first value of a field.
    public subscript(name: String) -> String? { all(name).first }

    /// Every value of a field that may be sent more than once.
    public func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.lazy.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// A request to a server.
public struct HTTPRequest: Sendable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// The actor that named the address.
    public enum AddressSource: Sendable {
        /// The user or the provider itself: it may lie wherever they say.
        case configuration
        /// An answer of a service: it never leads into the user's own network.
        case stranger
    }

    /// Source: RFC 6750 §2.1.
    package static let bearerField = "Authorization: Bearer "

    public var method: Method
    /// Absolute, `https`; `http` on loopback alone.
    public var url: String
    public var headers = HTTPHeaders()
    public var body: [UInt8] = []
    public var addressSource = AddressSource.configuration
    /// The largest size of the decompressed body of the response.
    public var maximumBytes = 16 << 20
    /// The time for all of it, redirects included; for a download, until the body begins.
    public var timeLimit = Duration.seconds(20)
    /// Goes along in ``tokenField``, to the origin of ``url`` alone.
    package var token: Secret?
    /// The header field of the token, and what stands before the token in it.
    package var tokenField = Self.bearerField
    /// The hosts that it may go to, redirects included; nil for any.
    package var allowedHosts: AllowedHosts?
    /// True if ``AddressSource/stranger`` may name loopback addresses, for a service on loopback.
    package var allowsLoopback = false
    /// The id of the plugin that the request is sent for; nil for a built-in provider. All plugins share a part of the
    /// connections.
    package var plugin: String?

    public init(_ method: Method = .get, _ url: String) {
        self.method = method
        self.url = url
    }

    /// Makes the body a form: `application/x-www-form-urlencoded`.
    public mutating func setForm(_ fields: [(name: String, value: String)]) {
        headers.append("Content-Type", "application/x-www-form-urlencoded")
        body = Array(URLEncoding.form(fields).utf8)
    }
}

/// Shows method and address only. The query may be secret, as may the user information and the rest.
extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "\(method.rawValue) \(url.withoutUserInformation.prefix { $0 != "?" && $0 != "#" })"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The response of a server, with any status.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: HTTPHeaders
    /// Decompressed; empty where it went into a file.
    public internal(set) var body: [UInt8]
    /// The address of the response, after redirects.
    public let url: String
    /// True if a redirect left the origin of the request: the credentials did not go along, and the response says
    /// nothing about them.
    package var leftOrigin = false
    /// The secret that the request carried; nil if it carried none. Traces remove it from the response.
    package var sentSecret: Secret?
    /// The memory of a large body that was requested by a plugin. Other plugins wait for it while it is held.
    package var memory: MemoryReservation?

    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [], url: String) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// True if the status is 2xx.
    public var isSuccess: Bool { 200..<300 ~= status }

    /// True if the body is HTML, which no API sends.
    public var isPage: Bool {
        if headers["Content-Type"]?.lowercased().contains("html") == true { return true }
        return body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    /// Returns the time after which the server permits the next request, sent as a number of seconds or a date.
    ///
    /// Source: RFC 9110 §10.2.3.
    public func retryAfter(now: Timestamp) -> Duration? {
        guard let value = headers["Retry-After"] else { return nil }
        if let seconds = Int64(value) { return seconds >= 0 ? .seconds(seconds) : nil }
        guard let date = Timestamp(httpDate: value) else { return nil }
        return .seconds(max(0, date.secondsSince1970 - now.secondsSince1970))
    }
}

/// A part of a limited amount of memory, released with its last reference.
package final class MemoryReservation: Sendable {
    private let release: @Sendable () -> Void

    /// Creates a reservation.
    ///
    /// - Parameter release: Called once, on any thread, when the reservation ends.
    package init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }
}

/// The progress of a response.
public struct HTTPProgress: Hashable, Sendable {
    public let received: Int
    /// nil where the server does not say.
    public let total: Int?

    public init(received: Int, total: Int?) {
        self.received = received
        self.total = total
    }
}

/// Asks servers.
public protocol HTTPClient: Sendable {
    /// Asks, and takes the answer into memory.
    ///
    /// - Throws: ``HTTPError``; `CancellationError` when the task is cancelled.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Asks, and writes the body of a 2xx answer into a file. Other answers come with their body.
    ///
    /// ``HTTPRequest/timeLimit`` is for the beginning: from the first byte of a 2xx body on, it takes as
    /// long as it takes, as long as bytes keep coming.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - file: Open for writing. Stays open, and is left alone once this returns.
    ///   - progress: Called at most ten times a second, and when all of the body is in the file.
    /// - Returns: The answer, whose body is in the file if the status is 2xx.
    /// - Throws: ``HTTPError``; `CancellationError` when the task is cancelled. The file may then hold
    ///   a part.
    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse
}

/// The reason of a failed request. Texts are for the log and contain no secret.
public enum HTTPError: Error, Hashable, Sendable {
    /// The host cannot be resolved or reached in time.
    case unreachable(String)
    /// The host does not do its part: TLS, a reset, silence, nonsense.
    case failed(String)
    /// The answer has more bytes than were allowed.
    case tooLarge(limit: Int)
    /// The address is no address, or of a scheme that is not spoken.
    case invalidAddress(String)
    /// The address leads where it must not.
    case forbiddenAddress(String)
    /// The file could not be written; the number is `errno`.
    case cannotWrite(Int32)
}

/// The sentence for a person.
extension HTTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason): "The service cannot be reached: \(reason)."
        case .failed(let reason): "The service did not answer as it should: \(reason)."
        case .tooLarge(let limit): "The answer of the service has more than \(limit >> 20) MiB."
        case .invalidAddress(let reason): "An address is not usable: \(reason)."
        case .forbiddenAddress(let reason): "An address leads where it must not: \(reason)."
        case .cannotWrite(let code):
            "The file cannot be written: \(String(cString: strerror(code)))."
        }
    }
}
