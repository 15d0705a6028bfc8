internal import Glibc
public import Translation

/// The header fields of an HTTP message, in order. Names are compared without case.
public struct HTTPHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// All fields, in order.
    public private(set) var fields: [Field] = []

    /// One header field.
    public struct Field: Hashable, Sendable {
        /// The name, with the case of the message.
        public let name: String
        /// The value, without white space around it.
        public let value: String

        /// True if a request can have the field: the name is valid and not reserved, and the value has no control
        /// characters except tabs.
        package var isAllowedInRequest: Bool {
            !name.isEmpty && name.utf8.allSatisfy(HTTPHeaders.isOfName)
                && !HTTPHeaders.reserved.contains(name.lowercased())
                && value.utf8.allSatisfy(HTTPHeaders.isOfValue)
        }
    }

    /// Returns true for a byte that the name of a field can have.
    ///
    /// Source: RFC 9110 §5.6.2.
    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    /// Returns true for a byte that the value of a field can have.
    package static func isOfValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f || byte == UInt8(ascii: "\t")
    }

    /// The names, in lower case, of the fields that only the HTTP client sets, because they frame a message.
    package static let reserved: Set = [
        "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
    ]

    /// Creates an empty list.
    public init() {}

    /// Creates a list of fields from a literal, in its order.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    /// Appends a field.
    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Removes the fields for which a function returns true. It receives the names in lower case, and the values.
    package mutating func removeAll(where isRemoved: (_ name: String, _ value: String) -> Bool) {
        fields.removeAll { isRemoved($0.name.lowercased(), $0.value) }
    }

    /// The first value of a field; nil if it is missing.
    public subscript(name: String) -> String? { all(name).first }

    /// Returns every value of a field that may be repeated.
    public func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return fields.lazy.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// An HTTP request.
public struct HTTPRequest: Sendable {
    /// The method of a request.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
        // The methods of WebDAV: RFC 4918, RFC 3253, RFC 5323.
        case propfind = "PROPFIND"
        case proppatch = "PROPPATCH"
        case report = "REPORT"
        case search = "SEARCH"
    }

    /// The origin of an address, which decides about the networks it may lead to.
    public enum AddressSource: Sendable {
        /// The user or the provider. The address may be in any network.
        case configuration
        /// A response of a service. The address must be public.
        case service
    }

    /// The beginning of the header field of a bearer token.
    ///
    /// Source: RFC 6750 §2.1.
    package static let bearerField = "Authorization: Bearer "

    /// The method.
    public var method: Method
    /// The absolute address: `https`, or `http` on loopback and at a server that the user named with `http`.
    public var url: String
    /// The header fields. The HTTP client sets the fields that frame a message, the user agent and the token.
    public var headers = HTTPHeaders()
    /// The body; empty for none.
    public var body: [UInt8] = []
    /// The source of ``url``.
    public var addressSource = AddressSource.configuration
    /// The maximum size of the response body after decompression, in bytes. The default is 16 MiB. A plugin gets at
    /// most 8 MiB.
    public var maximumBytes = 16 << 20
    /// The time limit of the request with its redirects. For a download, it ends with the first byte of the body. The
    /// default is 20 s.
    public var timeLimit = Duration.seconds(20)
    /// The token, which is sent in ``tokenField`` to the origin of ``url`` only.
    package var token: Secret?
    /// The header field of the token, up to the token: `Authorization: Bearer `.
    package var tokenField = Self.bearerField
    /// The hosts that the request and its redirects may be sent to; nil for all hosts.
    package var allowedHosts: AllowedHosts?
    /// True if an address of a service may be on loopback, because the service is.
    package var allowsLoopback = false
    /// The user agent; nil for that of the program and its version.
    package var userAgent: String?
    /// The secrets in the body, such as a password. They are removed from the response to a failed request.
    package var bodySecrets: [Secret] = []
    /// The ID of the plugin that the request is sent for; nil for a built-in provider. All plugins share a part of the
    /// connections.
    package var plugin: String?

    /// Creates a request without header fields and body.
    public init(_ method: Method = .get, _ url: String) {
        self.method = method
        self.url = url
    }

    /// Sets the body to a form, `application/x-www-form-urlencoded`.
    public mutating func setForm(_ fields: [(name: String, value: String)]) {
        headers.append("Content-Type", "application/x-www-form-urlencoded")
        body = Array(URLEncoding.form(fields).utf8)
    }
}

/// The method and the address. Query, fragment, user information and header fields may be secret and are left out.
extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and the address without secret parts.
    public var description: String {
        "\(method.rawValue) \(url.withoutUserInformation.prefix { $0 != "?" && $0 != "#" })"
    }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An HTTP response with any status.
public struct HTTPResponse: Sendable {
    /// The status code, 100 to 599.
    public let status: Int
    /// The header fields of the last response.
    public package(set) var headers: HTTPHeaders
    /// The body after decompression; empty if it was written to a file.
    public package(set) var body: [UInt8]
    /// The address of the response, after redirects.
    public let url: String
    /// True if a redirect left the origin of the request. The credentials were not sent there, and the response says
    /// nothing about them.
    package var leftOrigin = false
    /// The memory of a large body that was requested by a plugin; nil for other bodies.
    package var memory: MemoryReservation?

    /// Creates a response.
    public init(status: Int, headers: HTTPHeaders = [:], body: [UInt8] = [], url: String) {
        self.status = status
        self.headers = headers
        self.body = body
        self.url = url
    }

    /// True if the status is 2xx.
    public var isSuccess: Bool { 200..<300 ~= status }

    /// True if the body is HTML, which no API sends. A captive portal or a proxy sent the response.
    public var isHTML: Bool {
        let type = headers["Content-Type"]?.lowercased() ?? ""
        if type.contains("html") || type.contains("xml") { return type.contains("html") }
        return body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    /// The address of the response, and the target of its redirect, which was not followed; nil without a redirect.
    private var redirect: (address: WebAddress, target: WebAddress)? {
        guard 300..<400 ~= status, let address = WebAddress(url),
            let target = headers["Location"].flatMap({ WebAddress($0) })
        else { return nil }
        return (address, target)
    }

    /// True if the response is a redirect to another origin, which was not followed.
    package var leadsAway: Bool { redirect.map { $0.target.origin != $0.address.origin } ?? false }

    /// The origin to which a server redirects from `http` to `https` at the same host; nil for any other response. The
    /// HTTP client does not follow such a redirect if the user named the server with `http`.
    package var secureOrigin: String? {
        guard let (address, target) = redirect, address.scheme == .http, target.scheme == .https,
            target.host == address.host
        else { return nil }
        return target.origin
    }

    /// Returns the value of `Retry-After`, a number of seconds or a date.
    ///
    /// - Parameter now: The present time, for a date in a response that does not state its own time.
    /// - Returns: The time to wait, at least 0 s; nil if the field is missing or invalid.
    ///
    /// Source: RFC 9110 §10.2.3.
    public func retryAfter(now: Timestamp) -> Duration? {
        guard let value = headers["Retry-After"] else { return nil }
        if let seconds = Int64(value) { return seconds >= 0 ? .seconds(seconds) : nil }
        guard let date = Timestamp(httpDate: value) else { return nil }
        // The clock of the server may differ.
        let start = headers["Date"].flatMap { Timestamp(httpDate: $0) } ?? now
        return .seconds(max(0, date.secondsSince1970 - start.secondsSince1970))
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

/// The progress of a download.
public struct HTTPProgress: Hashable, Sendable {
    /// The number of bytes that have arrived.
    public let received: Int
    /// The size in bytes; nil if the server does not state it.
    public let total: Int?

    /// Creates a progress value.
    public init(received: Int, total: Int?) {
        self.received = received
        self.total = total
    }
}

/// A client that sends HTTP requests.
///
/// The client of ``SessionPorts`` adds the credentials of the account to requests of the origins that the login
/// description names, renews a token that the service refuses, and follows redirects. The credentials are not sent to
/// another origin.
public protocol HTTPClient: Sendable {
    /// Sends a request and returns the response in memory.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response with any status; a 404 or 500 is not an error of this method. Map a status 401 to
    ///   ``ProviderError/unauthorized``.
    /// - Throws: ``HTTPError``; ``ProviderError`` and errors of the keyring if the credentials cannot be loaded or
    ///   renewed; `CancellationError` in a cancelled task. Rethrow them, because the engine handles each of them.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Sends a request and writes the body of a 2xx response to a file. A response with another status has its body in
    /// memory.
    ///
    /// ``HTTPRequest/timeLimit`` ends with the first byte of a 2xx body. After that, the download continues while bytes
    /// arrive. A plugin cannot download to a file: it returns addresses of images, and the daemon fetches them.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - file: A descriptor that is open for writing. The caller closes it. It is not used after the call returns.
    ///   - progress: Called at most ten times a second, and at the end of the body.
    /// - Returns: The response. Its body is empty if the status is 2xx.
    /// - Throws: The errors of ``send(_:)``. The file may then have a part of the body.
    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse
}

/// An HTTP request that got no usable response. The messages contain no secret and end without a full stop.
public enum HTTPError: Error, Hashable, Sendable {
    /// The host could not be resolved or reached in time.
    case unreachable(Message)
    /// The transfer failed: a TLS error, a reset, a timeout, an invalid response.
    case failed(Message)
    /// The response body is larger than the limit, in bytes.
    case tooLarge(limit: Int)
    /// The text is not an address, or its scheme is not supported.
    case invalidAddress(Message)
    /// The address must not be requested, for example because it is in the user's network.
    case forbiddenAddress(Message)
    /// The file cannot be written; the number is an `errno`.
    case cannotWrite(Int32)
}

extension HTTPError: ExplainedError, CustomStringConvertible {
    /// One sentence.
    public var message: Message {
        switch self {
        case .unreachable(let reason):
            Message("The service cannot be reached: {reason}.", messages: ["reason": reason])
        case .failed(let reason):
            Message("The request to the service failed: {reason}.", messages: ["reason": reason])
        case .tooLarge(let limit):
            Message(
                "The response of the service is larger than {limit} MiB.",
                ["limit": "\(limit >> 20)"])
        case .invalidAddress(let reason):
            Message("An address is invalid: {reason}.", messages: ["reason": reason])
        case .forbiddenAddress(let reason):
            Message("An address must not be requested: {reason}.", messages: ["reason": reason])
        case .cannotWrite(let code):
            Message(
                "The file cannot be written: {reason}.",
                ["reason": String(cString: strerror(code))])
        }
    }
}
