internal import Glibc
internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit
internal import System

/// The plugin's end of the pipes to the daemon.
@MainActor
final class PluginChannel {
    private var source: DescriptorSource?
    /// The buffer for reads. It is reused, so that the kernel need not provide new pages for each read.
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    private var lines = LineBuffer()
    private var waiting: [Int64: CheckedContinuation<JSON, any Error>] = [:]
    private var lastID: Int64 = 0
    private var handler: ((PluginMessage) -> Void)?

    /// Starts reading. The process exits at the end of standard input.
    func start(_ handler: @escaping (PluginMessage) -> Void) {
        signal(SIGPIPE, SIG_IGN)
        self.handler = handler
        source = DescriptorSource(STDIN_FILENO, .reading) { [self] in read() }
        source?.resume()
    }

    private func read() {
        let count = Glibc.read(STDIN_FILENO, chunk.baseAddress, chunk.count)
        if count == 0 || count < 0 && errno != EINTR { exit(EXIT_SUCCESS) }
        // The length of the lines of the daemon is not limited.
        lines.append(UnsafeRawBufferPointer(rebasing: chunk.prefix(max(0, count)))).forEach(take)
    }

    private func take(_ line: [UInt8]) {
        // Ignore invalid messages, which a later version of the daemon may send.
        guard let message = try? PluginMessage(parsing: line) else { return }
        switch message {
        case .answer(.integer(let id), let result):
            waiting.removeValue(forKey: id)?.resume(returning: result)
        case .refusal(.integer(let id), let refusal):
            waiting.removeValue(forKey: id)?.resume(throwing: refusal.error(of: "Image Feed"))
        default: handler?(message)
        }
    }

    /// Writes a message. Blocks until the daemon has read it.
    func send(_ message: PluginMessage) {
        guard writeAll(message.line, to: STDOUT_FILENO) else { exit(EXIT_FAILURE) }
    }

    /// Makes the daemon send an HTTP request.
    func sendRequest(_ parameters: [JSON.Member]) async throws -> JSON {
        lastID += 1
        let id = lastID
        return try await withCheckedThrowingContinuation { continuation in
            waiting[id] = continuation
            send(
                .call(
                    id: .integer(id), method: DaemonMethod.http.rawValue,
                    parameters: .object(parameters)))
        }
    }

    /// Reports an event of a session to the daemon.
    func report(_ event: SessionEvent, _ account: String) {
        let (method, json): (DaemonMethod, JSON)
        switch event {
        case .status(let status): (method, json) = (.status, status.json)
        case .rateLimit(let limit): (method, json) = (.rateLimit, limit.json)
        // The daemon detects these changes itself.
        case .added, .updated, .changed, .removed, .likes, .notices: return
        }
        let members = [JSON.Member("account", .string(account))] + json.members
        send(.notification(method: method.rawValue, parameters: .object(members)))
    }
}
