import HTTP
import Logging
import ProviderKit
import TestSupport
import WikimediaSimulator

@testable import DailyProvider

/// A session at a simulated service.
@MainActor
final class SimulatedSession {
    let commons: SimulatedWikimedia
    let session: any Session
    let feed: any RemoteFeed
    let http: any HTTPClient

    /// - Parameters:
    ///   - pictureCount: The number of pictures.
    ///   - now: Returns the current time.
    /// - Throws: The error of a server that cannot be started.
    init(
        pictureCount: Int = 45, now: @escaping @Sendable () -> Timestamp = { .now }
    ) throws {
        commons = try SimulatedWikimedia.start(pictureCount: pictureCount)
        http = CurlClient(userAgent: "Test (+https://photos.test)") {}
        let daily = DailySession(
            SessionPorts(
                http: http,
                settings: ProviderSettings(["ApiUrl": commons.apiURL]),
                logger: Logger(label: "test")
            ).at(now))
        session = daily
        feed = daily
    }

    /// Returns the photos of the source, page by page.
    func walk() async throws -> [RemotePhoto] { try await feed.walk("all") }

    func photo(_ id: String) async throws -> Photo { try await feed.fetchPhoto(PhotoID(id)).photo }
}

/// A session at a service whose responses a test defines.
struct ScriptedSession {
    static let now = Timestamp(secondsSince1970: 1_795_306_000)

    let http = ScriptedHTTP()
    let session: DailySession

    init(_ respond: @escaping ScriptedHTTP.Answer) {
        http.answer.update { $0 = respond }
        session = DailySession(
            SessionPorts(http: http, settings: ProviderSettings(), logger: Logger(label: "test"))
                .at { Self.now })
    }
}
