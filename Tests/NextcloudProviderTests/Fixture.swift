import HTTP
import Logging
import NextcloudSimulator
import ProviderKit
import TestSupport

@testable import NextcloudProvider

/// A session of the user `ada` at a simulated server.
@MainActor
final class SimulatedSession {
    let server: SimulatedNextcloud
    let session: NextcloudSession

    /// - Parameters:
    ///   - version: The version of the server.
    ///   - path: The path of the server.
    ///   - photoCount: The number of photos.
    ///   - settings: The settings of the provider.
    ///   - now: Returns the current time.
    /// - Throws: The error of a server that cannot be started.
    init(
        _ version: Version = .v31, path: String = "", photoCount: Int = 45,
        settings: ProviderSettings = ProviderSettings(),
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) throws {
        server = try SimulatedNextcloud.start(version, path: path, photoCount: photoCount)
        server.addUser("ada")
        server.addUser("bob")
        let password = Base64.encode(Array(server.makePassword(of: "ada").utf8))
        let client = PasswordClient(
            base: CurlClient(userAgent: "Test") {}, password: Secret(password))
        session = NextcloudSession(
            AccountIdentity(username: "ada", server: server.url),
            SessionPorts(http: client, settings: settings, logger: Logger(label: "test")),
            now: now)
    }

    /// Returns the IDs of the photos of a source, page by page.
    func walk(
        _ source: String, between: (SimulatedNextcloud) -> Void = { _ in }
    ) async throws -> [String] {
        var found: [String] = []
        var token: String?
        repeat {
            let page = try await session.fetchPage(SourceID(source), from: token)
            found += page.photos.map(\.photo.id.text)
            token = page.next
            between(server)
        } while token != nil
        return found
    }
}

/// A client that sends each request with a password.
struct PasswordClient: HTTPClient {
    let base: any HTTPClient
    let password: Secret

    private func authorized(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.token = password
        request.tokenField = KeyDescription.basicField
        return request
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await base.send(authorized(request))
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await base.download(authorized(request), into: file, progress: progress)
    }
}

/// A session at a server whose responses a test defines.
struct ScriptedSession {
    let http = ScriptedHTTP()
    let session: NextcloudSession

    init(
        server: String = "cloud.example", settings: ProviderSettings = ProviderSettings(),
        _ respond: @escaping ScriptedHTTP.Answer
    ) {
        http.answer.update { $0 = respond }
        session = NextcloudSession(
            AccountIdentity(username: "ada", server: server),
            SessionPorts(http: http, settings: settings, logger: Logger(label: "test")),
            now: { Timestamp(secondsSince1970: 1_785_592_440) })
    }

    init(responding response: HTTPResponse) { self.init { _ in response } }
}
