internal import JSONFormat
internal import Logging
internal import PluginProtocol
public import ProviderKit
internal import Quoting
internal import System
internal import Translation

/// A server that answers the daemon's calls with a provider.
@MainActor
final class PluginServer {
    private let provider: any Provider
    private let channel = PluginChannel()
    private var settings = ProviderSettings()
    private var sessions: [String: any Session] = [:]
    private var running: [JSON: Task<Void, Never>] = [:]

    init(_ provider: any Provider) { self.provider = provider }

    func start() {
        channel.start { [self] message in
            switch message {
            case .call(let id, let method, let parameters): perform(id, method, parameters)
            case .notification(pluginCancellation, let parameters):
                if let id = parameters["id"] { running[id]?.cancel() }
            case .notification, .answer, .refusal: break
            }
        }
    }

    private func perform(_ id: JSON, _ name: String, _ parameters: JSON) {
        guard let method = PluginMethod(rawValue: name) else {
            return channel.send(.refusal(id: id, .unknownMethod(name)))
        }
        running[id] = Task {
            defer { running[id] = nil }
            do {
                let result = try await answer(method, PluginReader(parameters, name))
                channel.send(.answer(id: id, result: result))
            } catch {
                channel.send(.refusal(id: id, PluginRefusal(error)))
            }
        }
    }

    // MARK: Calls

    private func answer(_ method: PluginMethod, _ parameters: PluginReader) async throws -> JSON {
        switch method {
        case .initialize:
            let given = try parameters.object("settings")
            settings = ProviderSettings(
                try given.value.members.reduce(into: [:]) { $0[$1.name] = try given.text($1.name) })
            return ["protocol": .integer(Int64(PluginMessage.version))]
        case .discover:
            guard case .federated(let provider) = provider.loginMethod else { break }
            let (id, account) = try account(parameters)
            let user = account.username
            return try await provider.discover(
                account.server, user: user.isEmpty ? nil : user, ports(id)
            ).json
        case .describeLogin:
            guard case .polling(let provider) = provider.loginMethod else { break }
            let (id, account) = try account(parameters)
            return try await provider.describeLogin(account.server, ports(id)).json
        case .identify: return try await identify(parameters).json
        case .profile:
            guard let session = try session(parameters).profileSession else { break }
            return try await session.profile().json
        case .sources:
            return ["sources": .array(try await feed(parameters).sources().map(\.json))]
        case .page:
            let source = SourceID(try parameters.requiredText("source"))
            let feed = try feed(parameters)
            guard feed.accepts(source) else {
                throw ProviderError.notFound(
                    Message(verbatim: "There is no source “\(source.text.excerpt)”."))
            }
            return try await feed.fetchPage(source, from: parameters.text("place")).json
        case .photo:
            return try await feed(parameters).fetchPhoto(photo(parameters)).json
        case .image:
            guard let session = try feed(parameters).remoteImages,
                let size = ImageSize(rawValue: try parameters.requiredText("size"))
            else { break }
            let photo = RemotePhoto(
                Photo(id: try photo(parameters)), note: try parameters.text("note") ?? "")
            return ["url": JSON(try await session.imageAddress(photo, size))]
        case .setLiked:
            guard let session = try feed(parameters).remoteLikes else { break }
            let isLiked = try parameters.flag("liked") ?? true
            return ["likes": JSON(try await session.setLiked(photo(parameters), isLiked))]
        case .countDownload:
            let photo = RemotePhoto(
                Photo(id: try photo(parameters)), note: try parameters.text("note") ?? "")
            try await feed(parameters).countDownload(photo)
            return [:]
        }
        throw notSupported("does not support this call")
    }

    private func notSupported(_ reason: String) -> ProviderError {
        .notSupported(Message(verbatim: "\(provider.info.name) \(reason)."))
    }

    private func photo(_ parameters: PluginReader) throws -> PhotoID {
        PhotoID(try parameters.requiredText("photo"))
    }

    private func identify(_ parameters: PluginReader) async throws -> AccountIdentity {
        let (id, account) = try account(parameters)
        guard let found = try await provider.loginMethod.identify(account, ports(id)) else {
            throw notSupported("has no login")
        }
        return found
    }

    private func feed(_ parameters: PluginReader) throws -> any RemoteFeed {
        guard let feed = try session(parameters).remoteFeed else {
            throw notSupported("has no photos")
        }
        return feed
    }

    // MARK: Sessions

    /// Returns the account of a call, and its ID.
    private func account(_ parameters: PluginReader) throws -> (id: String, AccountIdentity) {
        let account = try parameters.object("account")
        return (
            try account.requiredText("id"),
            AccountIdentity(
                username: try account.requiredText("username"),
                server: try account.text("server") ?? "")
        )
    }

    private func session(_ parameters: PluginReader) throws -> any Session {
        let (id, account) = try account(parameters)
        if let known = sessions[id] { return known }
        let session = provider.makeSession(account, ports(id))
        sessions[id] = session
        let channel = channel
        Task {
            for await event in session.events { channel.report(event, id) }
        }
        return session
    }

    private func ports(_ account: String) -> SessionPorts {
        let channel = channel
        let logger = Logger(label: provider.info.id) { _ in PluginLogHandler(channel: channel) }
        return SessionPorts(
            http: PluginHTTPClient(account: account, channel: channel), settings: settings,
            logger: logger)
    }
}

/// Runs a provider as a plugin: reads calls from standard input and writes replies to standard output. Does not return.
///
/// The `main.swift` of a plugin:
///
/// ```swift
/// import PluginRuntime
///
/// PluginRuntime.run(MyProvider())
/// ```
///
/// The provider runs on the main thread, as it does in the daemon; this includes tasks without an actor. A long
/// computation needs a queue or a thread of its own. The HTTP client sends requests through the daemon, which adds the
/// credentials. The logger writes to the log of the daemon. The process exits when the daemon closes standard input.
///
/// - Parameter provider: Conforms to `KeyLogin`, `OAuthLogin`, `FederatedLogin` or `PollingLogin`; its sessions
///   conform to `RemoteFeed`.
///
/// Source: `imagefeed-providers(7)`.
@MainActor
public func run(_ provider: some Provider) -> Never {
    MainLoop.use()
    let server = PluginServer(provider)
    server.start()
    withExtendedLifetime(server) { MainLoop.run() }
}
