internal import Dispatch
internal import Logging
internal import ProviderKit

/// Calls all functions of a provider. The service sends `bytes` in response to every request: a status, header fields,
/// an empty line, and the body.
///
/// - Parameters:
///   - provider: The provider.
///   - sources: IDs of sources of the provider.
///   - bytes: The response.
///   - server: The server of the account; empty for a provider without servers.
@MainActor func callProvider(
    _ provider: any Provider, _ sources: [String], _ bytes: [UInt8], server: String = ""
) {
    let ports = SessionPorts(
        http: RepeatedResponse(bytes), settings: ProviderSettings(),
        logger: Logger(label: "fuzzer") { _ in SwiftLogNoOpLogHandler() })
    let session = provider.makeSession(AccountIdentity(username: "ada", server: server), ports)
    guard let likes = session.remoteLikes, let profile = session.profileSession else { return }
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        _ = try? await likes.sources()
        for source in sources { try? await fetchPages(likes, SourceID(source)) }
        if let photo = try? await likes.fetchPhoto(PhotoID("photo")) {
            _ = try? await likes.countDownload(photo)
        }
        for photo in ["photo", "117", "00000000-0000-4000-8000-000000000001", "2026-11-20-1007"] {
            _ = try? await likes.fetchPhoto(PhotoID(photo))
            _ = try? await likes.setLiked(PhotoID(photo), true)
        }
        _ = try? await profile.profile()
        session.close()
        done.signal()
    }
    done.wait()
}

/// Fetches two pages.
private func fetchPages(_ session: any RemoteFeed, _ source: SourceID) async throws {
    let page = try await session.fetchPage(source, from: nil)
    guard let next = page.next else { return }
    _ = try await session.fetchPage(source, from: next)
}

private struct RepeatedResponse: HTTPClient {
    private let status: Int
    private let headers: HTTPHeaders
    private let body: [UInt8]

    init(_ bytes: [UInt8]) {
        let statuses = [
            200, 200, 200, 201, 204, 206, 304, 400, 401, 403, 404, 410, 422, 429, 500, 503,
        ]
        status = statuses[Int(bytes.first ?? 0) % statuses.count]
        var headers = HTTPHeaders()
        var rest = bytes.dropFirst()
        while let end = rest.firstIndex(of: 0x0a) {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            guard let colon = line.firstIndex(of: ":") else { break }
            headers.append(String(line[..<colon]), String(line[line.index(after: colon)...]))
        }
        self.headers = headers
        body = Array(rest)
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, body: body, url: request.url)
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        HTTPResponse(status: status, headers: headers, url: request.url)
    }
}
