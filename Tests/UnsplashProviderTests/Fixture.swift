import Logging
import ProviderKit
import TestSupport

@testable import UnsplashProvider

/// Recorded responses of the real service: see `Recordings/SOURCES.md`.
let recordings = Recordings(beside: #filePath)

/// A session at a service whose responses a test defines.
struct Fixture {
    let http = ScriptedHTTP()
    let session: UnsplashSession
    let log: RecordedLog

    static let now = Timestamp(secondsSince1970: 1_700_000_000)

    init(
        _ settings: [String: String] = [:],
        now: @escaping @Sendable () -> Timestamp = { Self.now },
        _ respond: @escaping ScriptedHTTP.Answer
    ) {
        http.answer.update { $0 = respond }
        let log = RecordedLog()
        self.log = log
        let ports = SessionPorts(
            http: http, settings: ProviderSettings(settings),
            logger: Logger(label: "test") { _ in log })
        session = UnsplashSession(ports.at(now))
    }

    /// Creates a session at a service that sends the same response to every request.
    init(responding response: HTTPResponse) { self.init { _ in response } }

    /// The methods and addresses of the requests, without the base address of the API.
    var requestLines: [String] { http.requestLines(withoutPrefix: "https://api.unsplash.com") }
}

/// A log handler that stores the messages.
struct RecordedLog: LogHandler {
    let lines = Observed<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.update { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
    }
}
