import HTTP
import ImmichSimulator
import ProviderKit
import TestSupport

@testable import ImmichProvider

/// A session of the user `ada` at a simulated server.
@MainActor
final class SimulatedSession {
    let server: SimulatedImmich
    let key: String
    let session: ImmichSession

    /// The session with its server.
    var withServer: (SimulatedSession, SimulatedImmich) { (self, server) }

    /// - Parameters:
    ///   - version: The version of the server.
    ///   - photoCount: The number of photos.
    ///   - permissions: The permissions of the API key; nil for all.
    ///   - settings: The settings of the provider.
    ///   - now: Returns the current time.
    /// - Throws: The error of a server that cannot be started.
    init(
        _ version: Version = .v3, photoCount: Int = 45, permissions: Set<String>? = nil,
        settings: ProviderSettings = ProviderSettings(),
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) throws {
        server = try SimulatedImmich.start(version, photoCount: photoCount)
        let ada = server.addUser("ada")
        server.addUser("bob")
        key = server.makeKey(of: "ada", permissions: permissions)
        let client = AuthorizedHTTP(
            CurlClient(userAgent: "Test") {}, token: Secret(key), field: "x-api-key: ")
        session = ImmichSession(
            AccountIdentity(username: "ada@photos.test", server: server.url, userID: ada.id),
            SessionPorts(client, settings).at(now))
    }

    /// Returns the IDs of the photos of a source, page by page.
    func walk(_ source: String) async throws -> [String] {
        try await session.walk(source).map(\.photo.id.text)
    }
}

/// A session at a server whose responses a test defines.
struct ScriptedSession {
    static let now = Timestamp(secondsSince1970: 1_785_592_440)
    static let photo = "00000000-0000-4000-8000-000000000001"

    let http = ScriptedHTTP()
    let session: ImmichSession

    init(
        server: String = "photos.example", _ respond: @escaping ScriptedHTTP.Answer
    ) {
        http.answer.update { $0 = respond }
        session = ImmichSession(
            AccountIdentity(username: "ada@photos.example", server: server),
            SessionPorts(http)
                .at { Self.now })
    }

    init(responding response: HTTPResponse) { self.init { _ in response } }
}
