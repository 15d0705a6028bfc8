package import ProviderKit
internal import System
internal import Translation

/// One browser login for which the service issues a user name and a password, which this application polls for.
///
/// Source: “Login Flow v2” in the developer manual of the servers that have it.
nonisolated package struct PolledLogin: Sendable {
    /// The address that the browser opens.
    package let url: String
    private let endpoint: String
    private let token: Secret

    /// The interval between two polls.
    package static let interval = Duration.seconds(2)
    /// The largest delay after failures.
    package static let maximumDelay = Duration.seconds(30)
    /// The largest delay that a server can request.
    package static let maximumRetryDelay = Duration.seconds(300)

    /// The result of a poll.
    package enum Poll: Sendable {
        /// The user has not confirmed yet.
        case pending
        /// The poll failed for a temporary reason.
        case failed(retryAfter: Duration?)
        /// The user has confirmed. The token is the user name and the password in the form of Basic authentication. The
        /// server returns the password only once.
        case confirmed(username: String, OAuthToken)
    }

    /// Starts a login. The request carries no credentials.
    ///
    /// - Parameters:
    ///   - description: The description of the login.
    ///   - server: The server, for messages.
    ///   - http: The HTTP client.
    ///   - now: The current time.
    /// - Returns: The login.
    /// - Throws: ``ProviderError``, ``HTTPError``; ``OAuthError/serviceFailed(_:)`` for an invalid response.
    package static func start(
        _ description: PollingDescription, at server: String, _ http: any HTTPClient,
        now: Timestamp
    ) async throws -> PolledLogin {
        var request = HTTPRequest(.post, description.startURL)
        request.headers.append("Accept", "application/json")
        // Servers show it in the list of devices.
        request.userAgent = "Image Feed on \(CurrentProcess.hostName)"
        request.maximumBytes = SecretForm.maximumResponse
        let response = try await http.send(request)
        switch response.status {
        case 200..<300: break
        case 429:
            throw OAuthError.rateLimited(until: response.retryAfter(now: now).map { now + $0 })
        default:
            throw OAuthError.serviceFailed(
                Message("The login has status {status}.", ["status": "\(response.status)"]))
        }
        let record = response.isHTML ? nil : ServiceRecord(json: response.body)
        let poll = record?.record("poll")
        guard let login = record?.text("login"), let endpoint = poll?.text("endpoint"),
            let token = poll?.text("token"), !token.isEmpty
        else {
            throw OAuthError.serviceFailed(Message("The response to the login cannot be decoded."))
        }
        // Only the server that the user named may show the login, and receive the poll token.
        let named = WebAddress(description.startURL)
        let addresses = try [login, endpoint].map { text in
            guard let address = WebAddress(text), let named else {
                throw OAuthError.serviceFailed(Message("The login contains an invalid address."))
            }
            // A server behind a proxy that does not tell it of https and the port names its addresses without them.
            if address.host == named.host,
                address.scheme == named.scheme ? address.port == nil : address.scheme == .http
            {
                return named.origin + address.rest
            }
            guard address.origin == named.origin else {
                throw ProviderError.failed(
                    Message(
                        "{server} names another address for the login, {address}; log in with that address, or correct the address in the settings of the server.",
                        ["server": server, "address": "\(address.origin)"])
                )
            }
            return text
        }
        return PolledLogin(url: addresses[0], endpoint: addresses[1], token: Secret(token))
    }

    /// Polls once.
    ///
    /// - Parameters:
    ///   - http: The HTTP client. It adds no credentials.
    ///   - now: The current time.
    /// - Returns: The result. A network failure is not an error of this method.
    /// - Throws: ``OAuthError/refused(_:)`` if the server ends the login, ``OAuthError/serviceFailed(_:)`` if it
    ///   confirms the login without usable credentials; `CancellationError`.
    package func poll(_ http: any HTTPClient, now: Timestamp) async throws -> Poll {
        var form = SecretForm()
        form.append("token", token)
        let response: HTTPResponse
        do {
            response = try await form.send(to: endpoint, http)
        } catch HTTPError.unreachable, HTTPError.failed, ProviderError.failed {
            return .failed(retryAfter: nil)
        }
        switch response.status {
        case 404: return .pending
        // The login page of a network (captive portal) has a status of success, too.
        case 200..<300 where !response.isHTML: return try Self.credentials(response.body, now: now)
        case 200..<400, 408, 425, 429, 500...:
            return .failed(retryAfter: response.retryAfter(now: now))
        default:
            throw OAuthError.refused(
                Message("The login has status {status}.", ["status": "\(response.status)"]))
        }
    }

    private static func credentials(_ body: [UInt8], now: Timestamp) throws -> Poll {
        let record = ServiceRecord(json: body)
        guard let name = record?.text("loginName"), let password = record?.text("appPassword")
        else {
            throw OAuthError.serviceFailed(Message("The response to the login cannot be decoded."))
        }
        // A colon would end the user name.
        guard !name.isEmpty, !password.isEmpty, !name.contains(":"),
            [name, password].allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } })
        else { throw OAuthError.serviceFailed(Message("The login contains invalid credentials.")) }
        // Basic authentication, RFC 7617 §2. The array does not grow, which would leave copies.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8.count + password.utf8.count + 1)
        bytes += "\(name):".utf8
        bytes += password.utf8
        defer { bytes.wipe() }
        return .confirmed(username: name, .issued(Secret(Base64.encodedBytes(bytes)), now: now))
    }
}
