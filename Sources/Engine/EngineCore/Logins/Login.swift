internal import EngineModel
internal import OAuth
package import ProviderKit
internal import Quoting
internal import System
internal import Translation

/// The options of a login, from its caller.
package struct LoginOptions {
    /// The known account to log in again.
    package var account: Account?
    package var username: String?
    /// Reads the password. Called once, after the login has started.
    package var password: (() async throws -> Secret)?
    package var registers = false
    package var server: String?
    /// True if the user pastes the code; false if the browser sends it to the redirect listener.
    package var isManual = false
    /// The client that started the login. The number of logins of one client is limited.
    package var client = ""

    package init() {}
}

/// One attempt to log in, which ends with an account or an error. It is retained for a minute after its end.
package final class Login: RetainedItem {
    package enum State: String {
        case waiting
        case exchanging
        case succeeded
        case failed
        case cancelled
    }

    /// The time limit of a login.
    package static let timeLimit = Duration.seconds(600)
    static let maximumUnfinishedPerClient = 16
    static let maximumUnfinished = 64
    /// The time after the end in which the page in the browser can be loaded again.
    static let pageGracePeriod = Duration.seconds(5)
    /// The time after a failure in which a caller may begin to wait, so that the failure is not reported.
    static let waitGracePeriod = Duration.seconds(5)

    package let number: Int
    package let provider: any Provider
    /// The settings of the provider at the start of the login.
    let settings: ProviderSettings
    package private(set) var state = State.waiting
    package private(set) var account: Account?
    package private(set) var error: (any Error)?
    /// The authorization request, for a login in the browser.
    private(set) var authorization: Authorization?
    /// True for a login in the browser that ends with a code.
    private var takesCode: Bool
    /// The address to open in the browser; empty if none is needed, and until it is known.
    package private(set) var authorizationURL: String
    /// Completed when ``authorizationURL`` is known, after the discovery of the server.
    private let preparation = OneShotResult<Void, Never>()
    let expectedAccount: Account?
    /// The server that the caller named; empty for a service that is not federated.
    let server: String
    let client: String
    private unowned let engine: Engine
    private var work: Task<Void, Never>?
    private let outcome = OneShotResult<Account, any Error>()
    /// The later report of a failure that no caller awaits.
    private var report: Task<Void, Never>?

    init(
        number: Int, _ provider: any Provider, _ options: LoginOptions, at server: String,
        _ authorization: Authorization?, isPreparing: Bool, in engine: Engine
    ) {
        client = options.client
        if !isPreparing { preparation.complete(.success(())) }
        self.number = number
        self.authorization = authorization
        takesCode = authorization != nil
        authorizationURL = authorization?.url ?? ""
        self.provider = provider
        settings = engine.ports.settings(provider.info.id)
        expectedAccount = options.account
        self.server = server
        self.engine = engine
    }

    /// Waits until ``authorizationURL`` is known or the login has ended. Returns at once for a login without discovery.
    package func prepared() async { await preparation.value() }

    /// Opens ``authorizationURL`` in the user's browser, as soon as it is known.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for a login without a browser, or if no browser can be started.
    package func openBrowser() async throws {
        await prepared()
        guard !authorizationURL.isEmpty else {
            throw EngineError.notSupported(Message(verbatim: "This login does not use a browser."))
        }
        try await engine.ports.openURL(authorizationURL, "")
    }

    /// Sets the authorization request after the discovery of the server. Then the browser can be opened.
    ///
    /// - Throws: `CancellationError` if the login has ended.
    func setAuthorization(_ authorization: Authorization) throws {
        guard !hasEnded else { throw CancellationError() }
        self.authorization = authorization
        takesCode = true
        try setAddress(authorization.url)
    }

    /// Sets the address for the browser, for a login without a code.
    ///
    /// - Throws: `CancellationError` if the login has ended.
    func setAddress(_ address: String) throws {
        guard !hasEnded else { throw CancellationError() }
        authorizationURL = address
        preparation.complete(.success(()))
        engine.emit(.loginChanged(self))
    }

    /// Accepts a code that the user pasted, or the whole address at which the browser ended.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for a login without a code, ``EngineError/invalidArgument(_:)``
    ///   for an invalid code; the login continues.
    package func submit(_ code: String) throws {
        guard preparation.isComplete else {
            throw EngineError.invalidArgument(
                "The server is still being contacted; wait for the authorization address.")
        }
        guard takesCode else {
            throw EngineError.notSupported(Message(verbatim: "This login does not use a code."))
        }
        guard !hasEnded, let authorization else {
            throw EngineError.cancelled(Message(verbatim: "The login has already ended."))
        }
        guard state == .waiting else {
            throw EngineError.invalidArgument(
                "A code was already submitted; wait for the end of the login.")
        }
        do {
            try authorization.submit(code)
        } catch {
            guard case .invalidCode(let reason) = error else { throw error }
            throw EngineError.invalidArgument(reason)
        }
        move(to: .exchanging)
    }

    /// True if the login succeeded, failed or was cancelled.
    package var hasEnded: Bool { state != .waiting && state != .exchanging }
    var isOver: Bool { hasEnded }

    /// Starts the login.
    ///
    /// - Parameter work: Identifies the user and creates the account. It runs in a task that is cancelled with the login,
    ///   also at its time limit.
    func begin(_ work: @escaping @MainActor () async throws -> Account) {
        self.work = Task {
            let deadline = engine.ports.clock.after(Self.timeLimit) { [self] in
                end(.failed, error: EngineError.loginTimedOut)
                self.work?.cancel()
            }
            defer { deadline.cancel() }
            do {
                end(.succeeded, account: try await work())
            } catch {
                end(.failed, error: error)
            }
        }
    }

    /// Records that the service accepted the user, and that the account is being created.
    ///
    /// - Throws: `CancellationError` if the login has ended.
    func proceed() throws {
        guard !hasEnded else { throw CancellationError() }
        if state == .waiting { move(to: .exchanging) }
    }

    /// Checks that the login was for the user of the expected account.
    ///
    /// - Throws: ``EngineError/loginFailed(_:)``.
    func check(_ identity: AccountIdentity) throws {
        guard let expected = expectedAccount?.identity, !expected.isSameUser(as: identity) else {
            return
        }
        guard "\(expected)" != "\(identity)" else {
            throw EngineError.loginFailed(
                Message(
                    "The login was for another user with the name {user}.",
                    ["user": "\(identity)".excerpt]))
        }
        throw EngineError.loginFailed(
            Message(
                "The login was for {user}, not {expected}.",
                ["user": "\(identity)".excerpt, "expected": "\(expected)".excerpt]))
    }

    /// Waits for the end of the login. Returns at once if it has ended.
    ///
    /// - Parameter hasLeft: Returns true if the caller cannot receive the error any more. Called after a failure.
    /// - Returns: The account.
    /// - Throws: The error with which the login ended.
    package func wait(hasLeft: () async -> Bool = { false }) async throws -> Account {
        do {
            return try await outcome.value()
        } catch {
            if await !hasLeft() { cancelReport() }
            throw error
        }
    }

    /// Cancels the report of a failure: a caller knows it, or another login has begun.
    func cancelReport() { report?.cancel() }

    /// Ends the login. Returns when ``state`` has changed. A finished login does not change.
    ///
    /// The work may continue, for example until a server replies, but it stores nothing.
    package func cancel() {
        guard !hasEnded else { return }
        work?.cancel()
        end(.cancelled, error: EngineError.cancelled(Message("The login was cancelled.")))
    }

    /// Waits until the work of the login has ended. For a cancelled login, the work then has undone its changes.
    func waitForWork() async { await work?.value }

    private func move(to state: State) {
        self.state = state
        engine.emit(.loginChanged(self))
    }

    private func end(_ state: State, account: Account? = nil, error: (any Error)? = nil) {
        guard !hasEnded else { return }
        self.account = account
        self.error = error
        move(to: state)
        // A caller that waits reports the error to the user, and cancels this report.
        if state == .failed, let error {
            report = engine.ports.clock.after(Self.waitGracePeriod) { [weak self, weak engine] in
                if let self { engine?.reportFailure(of: self, error) }
            }
        }
        if state == .succeeded { engine.loginSucceeded(self) }
        preparation.complete(.success(()))
        if let account { outcome.complete(.success(account)) }
        if let error { outcome.complete(.failure(error)) }
        if authorization != nil {
            Task { [engine] in
                // The redirect listener still has to send its page. After that, the port is released.
                try? await engine.ports.clock.sleep(for: Self.pageGracePeriod)
                authorization = nil
            }
        }
        engine.logins.finish(self)
    }
}
