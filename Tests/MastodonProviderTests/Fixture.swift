import Logging
import ProviderKit
import TestSupport

@testable import MastodonProvider

/// Answers of real servers: see `Recordings/SOURCES.md`.
let recordings = Recordings(beside: #filePath)

extension HTTPResponse {
    static func json(_ text: String, status: Int = 200, _ headers: HTTPHeaders = [:]) -> Self {
        HTTPResponse(status: status, headers: headers, body: Array(text.utf8), url: "")
    }
}

/// A session whose server answers as the test says.
struct Fixture {
    let http = ScriptedHTTP()
    let session: MastodonSession

    static let now = Timestamp(secondsSince1970: 1_785_592_440)

    init(
        _ settings: [String: String] = [:],
        now: @escaping @Sendable () -> Timestamp = { Self.now },
        _ answer: @escaping ScriptedHTTP.Answer
    ) {
        http.answer.update { $0 = answer }
        session = MastodonSession(
            AccountIdentity(username: "ada", server: "photos.example"),
            SessionPorts(
                http: http, settings: ProviderSettings(settings), logger: Logger(label: "test")),
            now: now)
    }

    /// Always the same answer.
    init(_ settings: [String: String] = [:], answering response: HTTPResponse) {
        self.init(settings) { _ in response }
    }

    /// Method and address of what was asked, without what all have.
    var asked: [String] {
        http.requests.value.map { request in
            let url = request.url.replacing("https://photos.example/api/v1", with: "")
            return request.method == .get ? url : "\(request.method.rawValue) \(url)"
        }
    }

    /// What the session told by itself.
    func events() async -> [SessionEvent] {
        session.close()
        return await session.events.reduce(into: []) { $0.append($1) }
    }
}

/// Statuses as servers write them.
enum Sample {
    static func status(
        _ id: String, _ attachments: [String] = [], _ more: String = #""sensitive":false"#
    ) -> String {
        #"{"id":"\#(id)",\#(more),"media_attachments":[\#(attachments.joined(separator: ","))]}"#
    }

    static func image(_ id: String, _ more: String = #""meta":null"#) -> String {
        #"{"id":"\#(id)","type":"image","url":"https://files.example/\#(id).jpg",\#(more)}"#
    }

    static func list(_ statuses: String...) -> String { "[\(statuses.joined(separator: ","))]" }

    static func next(_ query: String) -> HTTPHeaders {
        ["Link": #"<https://photos.example/api/v1/timelines/home?\#(query)>; rel="next""#]
    }
}
