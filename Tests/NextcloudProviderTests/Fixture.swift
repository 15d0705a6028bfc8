import HTTP
import NextcloudSimulator
import ProviderKit
import Synchronization
import TestSupport

@testable import NextcloudProvider

/// A session of the user `ada` at a simulated server.
@MainActor
final class SimulatedSession {
    let server: SimulatedNextcloud
    let session: NextcloudSession
    private let ports: SessionPorts
    private let counter: CountingClient

    /// The bytes of the bodies of all requests and responses so far.
    var bytes: Int { counter.bytes.withLock { $0 } }

    /// The session with its server.
    var withServer: (SimulatedSession, SimulatedNextcloud) { (self, server) }

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
        counter = CountingClient(
            AuthorizedHTTP(
                CurlClient(userAgent: "Test") {}, token: Secret(password),
                field: KeyDescription.basicField))
        ports = SessionPorts(counter, settings)
        session = NextcloudSession(
            AccountIdentity(username: "ada", server: server.url), ports.at(now))
    }

    /// Creates a client for the server.
    func makeClient() throws -> NextcloudClient {
        try NextcloudClient(AccountIdentity(username: "ada", server: server.url), ports)
    }

    /// Returns the IDs of the photos of a source, page by page.
    func walk(
        _ source: String, between: (SimulatedNextcloud) -> Void = { _ in }
    ) async throws -> [String] {
        try await session.walk(source) { between(server) }.map(\.photo.id.text)
    }
}

extension SimulatedNextcloud {
    /// Adds the file that hides a folder.
    @discardableResult
    func hide(_ folder: String) -> SimulatedFile {
        publish { ($0.path, $0.mediaType) = ("\(folder)/.nomedia", "application/octet-stream") }
    }

    /// Adds photos in a row, each with the changes for its number.
    func publish(_ count: Int, _ change: (Int, inout SimulatedFile) -> Void) {
        for number in 0..<count { publish { change(number, &$0) } }
    }
}

/// A client that counts the bytes of bodies.
private final class CountingClient: HTTPClient {
    let bytes = Mutex(0)
    private let base: any HTTPClient

    init(_ base: any HTTPClient) { self.base = base }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let response = try await base.send(request)
        bytes.withLock { $0 += request.body.count + response.body.count }
        return response
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        try await base.download(request, into: file, progress: progress)
    }
}

/// A session at a server without the app Photos, whose other responses a test defines.
struct ScriptedSession {
    let http = ScriptedHTTP()
    let session: NextcloudSession

    init(
        server: String = "cloud.example", settings: ProviderSettings = ProviderSettings(),
        _ respond: @escaping ScriptedHTTP.Answer
    ) {
        http.answer.update {
            $0 = {
                try $0.url.hasSuffix("/apps/photos/")
                    ? HTTPResponse(status: 404, url: $0.url) : respond($0)
            }
        }
        session = NextcloudSession(
            AccountIdentity(username: "ada", server: server),
            SessionPorts(http, settings)
                .at { Timestamp(secondsSince1970: 1_785_592_440) })
    }

    init(responding response: HTTPResponse) { self.init { _ in response } }

    /// Creates a session at a server with one photo in the files of the user.
    init(photo properties: String) {
        let text = document(path: "/remote.php/dav/files/ada/a.jpg", properties)
        self.init(settings: ProviderSettings(["ShowLocation": "true"])) { _ in
            .json(text, status: 207)
        }
    }
}

extension HTTPResponse {
    /// Creates a response of the server with a document of an error.
    static func davError(_ elements: String, status: Int) -> HTTPResponse {
        .json(
            "<d:error xmlns:d=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\">\(elements)</d:error>",
            status: status, ["Content-Type": "application/xml; charset=utf-8"])
    }
}

/// Returns a document with one photo.
func document(path: String, _ properties: String = "") -> String {
    document(of: [entry(path: path, id: 7, properties)])
}

/// Returns a document with the entries of photos.
func document(of entries: [String]) -> String {
    """
    <?xml version="1.0"?>
    <d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
    \(entries.joined())</d:multistatus>
    """
}

/// Returns the entry of a photo; without an ID for nil.
func entry(path: String, id: Int?, _ properties: String) -> String {
    """
    <d:response><d:href>\(path)</d:href><d:propstat><d:prop>\(id.map { "<oc:fileid>\($0)</oc:fileid>" } ?? "")
    <d:getcontenttype>image/jpeg</d:getcontenttype>\(properties)</d:prop>
    <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
    """
}
