import Glibc
import TestSupport
import Testing
import Web

@testable import HTTP

/// Creates a client with the given limits and proxies, by default without a proxy.
@MainActor
func makeClient(
    _ limits: Limits = .wide, proxies: [String: String] = [:],
    suspendedTime: @escaping () -> Duration = { .zero }, onRest: @escaping () -> Void = {}
) -> CurlClient {
    signal(SIGPIPE, SIG_IGN)
    return CurlClient(
        userAgent: "ImageFeed/0 (+https://example.org)", proxies: ProxySettings { proxies[$0] },
        limits: limits, suspendedTime: suspendedTime, onRest: onRest)
}

/// Returns limits with changes. A test of a limit shortens only this one.
func makeLimits(_ base: Limits = .wide, _ change: (inout Limits) -> Void) -> Limits {
    var limits = base
    change(&limits)
    return limits
}

extension Limits {
    /// Limits that a slow machine does not exceed.
    static var wide: Limits {
        makeLimits(Limits()) {
            ($0.connecting, $0.silence) = (.seconds(60), .seconds(60))
            ($0.silenceAfterChange, $0.suspiciousSilence) = (.seconds(60), .seconds(60))
        }
    }
}

extension HTTPRequest {
    /// Returns a changed copy of the request.
    func with(_ change: (inout HTTPRequest) -> Void) -> HTTPRequest {
        var request = self
        change(&request)
        return request
    }

    /// Returns a copy of the request whose origin the user named.
    func naming(_ origin: String) -> HTTPRequest {
        with { $0.allowedHosts = AllowedHosts(patterns: [], origins: [origin]) }
    }

    /// A request to an address that a service named.
    static func service(_ url: String, allowsLoopback: Bool = false) -> HTTPRequest {
        HTTPRequest(.get, url).with {
            $0.addressSource = .service
            $0.allowsLoopback = allowsLoopback
        }
    }
}

extension LoopbackResponse {
    /// Returns the response after a pause.
    func delayed(by pause: Duration) -> LoopbackResponse {
        LoopbackResponse(steps: [.pause(pause)] + steps)
    }
}

/// The case of an error, without its text.
enum Failure: Hashable {
    case unreachable, failed, tooLarge, invalidAddress, forbiddenAddress, cannotWrite, cancelled
    case other

    init(_ error: any Error) {
        self =
            switch error {
            case HTTPError.unreachable: .unreachable
            case HTTPError.failed: .failed
            case HTTPError.tooLarge: .tooLarge
            case HTTPError.invalidAddress: .invalidAddress
            case HTTPError.forbiddenAddress: .forbiddenAddress
            case HTTPError.cannotWrite: .cannotWrite
            case is CancellationError: .cancelled
            default: .other
            }
    }
}

extension CurlClient {
    /// Returns the error of a request; nil for a success.
    func failure(of request: HTTPRequest) async -> Failure? {
        do {
            _ = try await send(request)
            return nil
        } catch {
            return Failure(error)
        }
    }

    /// Returns the error of a download; nil for a success.
    func failure(of request: HTTPRequest, into file: Int32) async -> Failure? {
        do {
            let response = try await download(request, into: file) { _ in }
            return response.isSuccess ? nil : .other
        } catch {
            return Failure(error)
        }
    }

    /// Sends requests concurrently and returns their different responses.
    func texts(_ urls: [String]) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String.self) { group in
            for url in urls { group.addTask { try await self.text(url) } }
            var texts: Set<String> = []
            for try await text in group { texts.insert(text) }
            return texts
        }
    }

    func text(_ url: String) async throws -> String {
        let request = HTTPRequest(.get, url).with { $0.timeLimit = .seconds(120) }
        return String(decoding: try await send(request).body, as: UTF8.self)
    }
}

/// A file for a download, which is closed when the last reference is released.
final class ImageFile: Sendable {
    let descriptor: Int32
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        descriptor = open(directory.appending("image"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    var contents: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64 << 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Array(bytes.prefix(max(0, count)))
    }
}
