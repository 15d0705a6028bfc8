import HTTP
import ProviderKit
import TestSupport
import WikimediaSimulator

@testable import DailyProvider

/// A session at a simulated service.
@MainActor
final class SimulatedSession {
    let commons: SimulatedWikimedia
    let session: DailySession
    let http: any HTTPClient

    /// The session with its server.
    var withServer: (SimulatedSession, SimulatedWikimedia) { (self, commons) }

    /// - Parameters:
    ///   - pictureCount: The number of pictures.
    ///   - now: Returns the current time.
    /// - Throws: The error of a server that cannot be started.
    init(
        pictureCount: Int = 45, now: @escaping @Sendable () -> Timestamp = { .now }
    ) throws {
        commons = try SimulatedWikimedia.start(pictureCount: pictureCount)
        http = CurlClient(userAgent: "Test (+https://photos.test)") {}
        session = DailySession(
            SessionPorts(http, ProviderSettings(["ApiUrl": commons.apiURL])).at(now))
    }

    /// Returns the photos of the source, page by page.
    func walk() async throws -> [RemotePhoto] { try await session.walk("all") }

    func photo(_ id: String) async throws -> Photo { try await session.fetchPhoto(id).photo }
}

/// A session at a service whose responses a test defines.
struct ScriptedSession {
    static let now = Timestamp(secondsSince1970: 1_795_306_000)

    let http = ScriptedHTTP()
    let session: DailySession

    init(_ respond: @escaping ScriptedHTTP.Answer) {
        http.answer.update { $0 = respond }
        session = DailySession(SessionPorts(http).at { Self.now })
    }

    /// Creates a session at a service that sends the same response to every request.
    init(responding text: String, status: Int = 200) {
        self.init { HTTPResponse(status: status, body: Array(text.utf8), url: $0.url) }
    }
}
