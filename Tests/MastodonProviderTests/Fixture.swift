import ProviderKit
import TestSupport

@testable import MastodonProvider

/// Recorded responses of real servers: see `Recordings/SOURCES.md`.
let recordings = Recordings(beside: #filePath)

/// A session at a server whose responses a test defines.
struct Fixture {
    let http = ScriptedHTTP()
    let session: MastodonSession

    static let now = Timestamp(secondsSince1970: 1_785_592_440)

    init(
        _ settings: [String: String] = [:],
        now: @escaping @Sendable () -> Timestamp = { Self.now },
        _ respond: @escaping ScriptedHTTP.Answer
    ) {
        http.answer.update { $0 = respond }
        session = MastodonSession(
            AccountIdentity(username: "ada", server: "photos.example"),
            SessionPorts(http, ProviderSettings(settings)).at(now))
    }

    /// Creates a session at a server that sends the same response to every request.
    init(_ settings: [String: String] = [:], responding response: HTTPResponse) {
        self.init(settings) { _ in response }
    }

    /// Creates a session at a server that sends the same statuses to every request.
    init(statuses: [String], next query: String? = nil) {
        self.init(responding: .json(Sample.list(statuses), query.map(Sample.next) ?? [:]))
    }

    /// Creates a session at a server whose lists are empty.
    init(instance: HTTPResponse) {
        self.init { $0.url.contains("/instance") ? instance : .json("[]") }
    }

    /// Creates a session at a server with this version, whose lists are empty.
    init(version: String) {
        self.init(instance: .json(#"{"version":"\#(version)","title":"x","uri":"x"}"#))
    }

    /// The methods and addresses of the requests, without the base address of the API.
    var requestLines: [String] { http.requestLines(withoutPrefix: "https://photos.example/api/v1") }
}

/// Statuses in the format of the API.
enum Sample {
    static func status(
        _ id: String, _ attachments: [String] = [], _ more: String = #""sensitive":false"#
    ) -> String {
        #"{"id":"\#(id)",\#(more),"media_attachments":[\#(attachments.joined(separator: ","))]}"#
    }

    static func image(_ id: String, _ more: String = #""meta":null"#) -> String {
        #"{"id":"\#(id)","type":"image","url":"https://files.example/\#(id).jpg",\#(more)}"#
    }

    static func list(_ statuses: [String]) -> String { "[\(statuses.joined(separator: ","))]" }

    static func next(_ query: String) -> HTTPHeaders {
        ["Link": #"<https://photos.example/api/v1/timelines/home?\#(query)>; rel="next""#]
    }
}
