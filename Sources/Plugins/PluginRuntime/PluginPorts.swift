internal import JSONFormat
internal import Logging
internal import PluginProtocol
internal import ProviderKit
internal import Translation

/// An HTTP client that sends its requests through the daemon, which adds the credentials of the account.
struct PluginHTTPClient: HTTPClient {
    let account: String
    let channel: PluginChannel

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let parameters = [JSON.Member("account", .string(account))] + request.json.members
        let answer = try await channel.sendRequest(parameters)
        let response: HTTPResponse
        do {
            response = try HTTPResponse(PluginReader(answer, "http"))
        } catch {
            throw HTTPError.failed(Message(verbatim: "\(error)"))
        }
        guard response.body.count <= request.maximumBytes else {
            throw HTTPError.tooLarge(limit: request.maximumBytes)
        }
        return response
    }

    /// Throws ``HTTPError/failed(_:)``, because a plugin has no files.
    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        throw HTTPError.failed(
            Message(verbatim: "a plugin cannot download to a file; return the address instead"))
    }
}

/// A log handler that writes to the log of the daemon.
struct PluginLogHandler: LogHandler {
    let channel: PluginChannel
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = metadata.merging(event.metadata ?? [:]) { $1 }
            .sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let message = PluginMessage.notification(
            method: DaemonMethod.log.rawValue,
            parameters: [
                "level": .string(event.level.rawValue),
                "message": .string("\(event.message)\(facts)"),
            ])
        Task { @MainActor in channel.send(message) }
    }
}
