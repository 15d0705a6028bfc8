import ProviderKit
import TestSupport

@testable import EngineCore

/// A provider whose logins are confirmed in the browser. Its network is ``answer(_:)``.
final class FakePolling: PollingLogin {
    struct State: Sendable {
        /// The user name of the next confirmation; nil while the user has not confirmed.
        var confirmed: String?
        /// The statuses of the next polls, in place of 404; nil for a network failure, 200 for the page of another server.
        var polls: [Int?] = []
        /// The number of polls.
        var pollCount = 0
        /// The passwords that are valid.
        var passwords: Set<String> = []
        /// The number of issued passwords.
        var issued = 0
        /// The origin of the addresses of the login.
        var origin = "https://one.example"
        /// True while revocations fail.
        var refusesRevocations = false
        /// The `Authorization` fields of requests for the user and of revocations.
        var fields: [String] = []
    }

    let state = Observed(State())
    let info = ProviderInfo(
        id: "polling", name: "Polling", iconName: "image", authentication: .oauth2,
        capabilities: [.feed, .server], defaultSource: SourceID("new"))

    func server(_ text: String, _ settings: ProviderSettings) throws(ProviderError) -> String {
        try ServerAddress(text, keepsPath: true).name
    }

    func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription {
        let origin = try ServerAddress(server).origin
        var description = KeyDescription(
            keyField: KeyDescription.basicField, keyOrigins: [origin], needsServer: true)
        description.namedOrigins = [origin]
        return description
    }

    func describeLogin(_ server: String, _ ports: SessionPorts) async throws -> PollingDescription {
        let base = try ServerAddress(server).origin
        return PollingDescription(
            server: server, startURL: base + "/start",
            revocation: HTTPRequest(.delete, base + "/password"))
    }

    func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity {
        guard try await ports.http.send(HTTPRequest(.get, "https://one.example/user")).status == 200
        else { throw ProviderError.unauthorized }
        return AccountIdentity(username: account.username, server: account.server)
    }

    /// Makes an engine whose only provider is this one, and whose network is ``answer(_:)``.
    @MainActor
    func fixture(_ directory: TemporaryDirectory? = nil) throws -> EngineFixture {
        let fixture = try EngineFixture(directory, providers: [self])
        fixture.ports.http.answer.update { $0 = { try self.answer($0) } }
        return fixture
    }

    /// Starts a login, and waits for its address.
    @MainActor
    func start(
        _ fixture: EngineFixture, at server: String? = "one.example/cloud",
        for account: Account? = nil
    ) async throws -> Login {
        var options = LoginOptions()
        options.server = server
        options.account = account
        let login = try fixture.engine.logins.start("polling", options)
        await login.prepared()
        return login
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        FakeServiceSession(Observed(FakeService.State()))
    }

    /// Returns the response of the network to a request.
    func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        let path = WebAddress(request.url)?.rest ?? ""
        switch "\(request.method.rawValue) \(path)" {
        case "POST /start":
            let origin = state.value.origin
            return .json(
                #"{"login":"\#(origin)/confirm","poll":{"endpoint":"\#(origin)/poll","token":"poll token"}}"#
            )
        case "POST /poll": return try poll(request)
        case "GET /user":
            return HTTPResponse(status: isValid(request) ? 200 : 401, url: request.url)
        case "DELETE /password":
            guard !state.value.refusesRevocations else {
                return HTTPResponse(status: 500, url: request.url)
            }
            let isValid = isValid(request)
            state.update { $0.passwords.remove(field(request)) }
            return HTTPResponse(status: isValid ? 200 : 401, url: request.url)
        default: return HTTPResponse(status: 404, url: request.url)
        }
    }

    private func field(_ request: HTTPRequest) -> String {
        request.tokenField + (request.token?.withText { $0 } ?? "")
    }

    private func isValid(_ request: HTTPRequest) -> Bool {
        let field = field(request)
        state.update { $0.fields.append(field) }
        return state.value.passwords.contains(field)
    }

    private func poll(_ request: HTTPRequest) throws -> HTTPResponse {
        precondition(request.token == nil)
        precondition(String(decoding: request.body, as: UTF8.self) == "token=poll%20token")
        state.update { $0.pollCount += 1 }
        var reply: HTTPResponse?
        state.update { state in
            if !state.polls.isEmpty {
                reply = state.polls.removeFirst().map { status in
                    guard status == 200 else {
                        return HTTPResponse(status: status, url: request.url)
                    }
                    // The page of a network that requires a login.
                    return HTTPResponse(
                        status: status, headers: ["Content-Type": "text/html"],
                        body: Array("<p>Welcome".utf8), url: request.url)
                }
            } else if let username = state.confirmed {
                state.confirmed = nil
                state.issued += 1
                let password = "password \(state.issued)"
                let text = Base64.encode(Array("\(username):\(password)".utf8))
                state.passwords.insert(KeyDescription.basicField + text)
                reply = .json(
                    #"{"server":"x","loginName":"\#(username)","appPassword":"\#(password)"}"#)
            } else {
                reply = HTTPResponse(status: 404, url: request.url)
            }
        }
        guard let reply else { throw HTTPError.unreachable("the network is down") }
        return reply
    }
}
