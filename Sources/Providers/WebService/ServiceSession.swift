internal import Logging
package import ProviderKit
internal import Translation

/// A client of a service for one account.
package protocol ServiceClient: Sendable {
    var service: ServiceDescription { get }
    var ports: SessionPorts { get }

    /// Fetches the profile of the logged-in user.
    func profile() async throws -> Profile
}

extension ServiceClient {
    /// Returns a response with the item that was requested, for the translation to an error.
    package func refusal(_ response: HTTPResponse, _ subject: Refusal.Subject) -> Refusal {
        Refusal(response, subject, service, now: ports.now())
    }

    /// Decodes the body of a response as JSON.
    ///
    /// - Throws: ``ProviderError/failed(_:)`` for an invalid response.
    package func decode<Value: Decodable>(_ response: HTTPResponse) throws(ProviderError) -> Value {
        if let value: Value = response.decodeJSON() { return value }
        throw unreadable(response)
    }

    /// Logs a response with an unexpected document, and returns its error.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - reason: The reason, for the log.
    /// - Returns: The error.
    package func unreadable(
        _ response: HTTPResponse, _ reason: (any Error)? = nil
    ) -> ProviderError {
        ports.logger.debug(
            "Cannot decode a response",
            metadata: [
                "status": "\(response.status)", "bytes": "\(response.body.count)",
                "reason": "\(reason, default: "")",
            ])
        return service.invalidResponse(Message("an unexpected document"))
    }

    /// Fetches the identity of the logged-in user.
    ///
    /// - Parameter server: The server of the account; empty for a service with one server.
    /// - Returns: The identity.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    package func identity(at server: String = "") async throws -> AccountIdentity {
        let profile = try await profile()
        return AccountIdentity(
            username: profile.username, server: server, userID: profile.userID)
    }
}

/// A session of an account at a service. If the account has no client, each call throws the reason.
package protocol ServiceSession: RemoteFeed, ProfileSession {
    associatedtype Client: ServiceClient

    var connection: ServiceConnection<Client> { get }
}

extension ServiceSession {
    package var events: AsyncStream<SessionEvent> { connection.events }

    /// The client. The error is that of its creation.
    package var client: Client {
        get throws(ProviderError) { try connection.client.get() }
    }

    package func close() { connection.continuation.finish() }

    package func profile() async throws -> Profile { try await client.profile() }
}

/// The client and the events of a session. The first event is the status of the session.
package struct ServiceConnection<Client: ServiceClient>: Sendable {
    let events: AsyncStream<SessionEvent>
    package let continuation: AsyncStream<SessionEvent>.Continuation
    package let client: Result<Client, ProviderError>

    /// - Parameter makeClient: Creates the client, which can report events, from the settings and the server of the
    ///   account.
    package init(
        _ makeClient: (AsyncStream<SessionEvent>.Continuation) throws(ProviderError) -> Client
    ) {
        let (events, continuation) = AsyncStream<SessionEvent>.makeStream()
        self.events = events
        self.continuation = continuation
        client = Result { () throws(ProviderError) in try makeClient(continuation) }
        switch client {
        case .success: continuation.yield(.status(.ready))
        case .failure(let error):
            let isConfigurable = if case .notConfigured = error { true } else { false }
            continuation.yield(
                .status(
                    .failed(reason: error.message, remedy: isConfigurable ? .configure : .login)))
        }
    }
}
