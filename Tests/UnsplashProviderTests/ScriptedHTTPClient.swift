import Logging
import ProviderKit
import TestSupport

@testable import UnsplashProvider

/// Answers as the test says, and keeps what it was asked.
final class ScriptedHTTPClient: HTTPClient {
    typealias Script = @Sendable (HTTPRequest) throws -> HTTPResponse

    let requests = Observed<[HTTPRequest]>([])
    private let script: Script

    init(_ script: @escaping Script) { self.script = script }

    /// Method and address of what was asked, without the base of the API.
    var asked: [String] {
        requests.value.map { request in
            let url = request.url.replacing("https://api.unsplash.com", with: "")
            return request.method == .get ? url : "\(request.method.rawValue) \(url)"
        }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.update { $0.append(request) }
        return try script(request)
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        throw HTTPError.failed("A session downloads nothing.")
    }
}

extension HTTPResponse {
    static func json(_ text: String, status: Int = 200, _ headers: HTTPHeaders = [:]) -> Self {
        HTTPResponse(status: status, headers: headers, body: Array(text.utf8), url: "")
    }
}

/// A session whose service answers as the test says.
struct Fixture {
    let http: ScriptedHTTPClient
    let session: UnsplashSession
    let log: RecordedLog

    static let now = Timestamp(secondsSince1970: 1_700_000_000)

    init(
        _ settings: [String: String] = [:],
        now: @escaping @Sendable () -> Timestamp = { Self.now },
        _ script: @escaping ScriptedHTTPClient.Script
    ) {
        http = ScriptedHTTPClient(script)
        let log = RecordedLog()
        self.log = log
        let ports = SessionPorts(
            http: http, settings: ProviderSettings(settings),
            logger: Logger(label: "test") { _ in log })
        session = UnsplashSession(AccountIdentity(username: "ada"), ports, now: now)
    }

    /// Always the same answer.
    init(answering response: HTTPResponse) { self.init { _ in response } }

    /// What the session told by itself.
    func events() async -> [SessionEvent] {
        session.close()
        return await session.events.reduce(into: []) { $0.append($1) }
    }
}

/// Keeps what is logged.
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
