internal import OAuth
package import ProviderKit
internal import Quoting

/// What the caller of a login gave.
package struct LoginOptions {
    /// The known account that is to be logged in again.
    package var account: Account?
    package var username: String?
    /// Reads the password that was given. It is read once, after the login has begun.
    package var password: (() async throws -> Secret)?
    package var registers = false
    package var server: String?
    /// Whether the code is pasted, instead of the browser bringing it.
    package var isManual = false
    /// The client that started the login. The number of logins of one client is limited.
    package var client = ""

    package init() {}
}

/// One try to log in: from its start to an account or an error, and a minute longer.
package final class Login {
    package enum State: String {
        case waiting
        case exchanging
        case succeeded
        case failed
        case cancelled
    }

    /// How long a login may take.
    package static let timeLimit = Duration.seconds(600)
    /// How long a login stays after its end, for whoever asks late.
    package static let lingering = Duration.seconds(60)

    /// The largest number of unfinished logins of one client.
    nonisolated package static let maximumUnfinishedPerClient = 16
    /// The largest number of unfinished logins of all clients.
    nonisolated package static let maximumUnfinished = 64
    /// How long the page in the browser can be loaded again after the end.
    static let farewell = Duration.seconds(5)

    package let number: Int
    package let provider: any Provider
    package private(set) var state = State.waiting
    package private(set) var account: Account?
    package private(set) var error: (any Error)?
    /// What is asked of the service, for a login in the browser.
    private(set) var authorization: Authorization?
    /// The address that the browser has to open; empty where none is needed, and until it is known.
    package private(set) var authorizationURL: String
    /// Those who wait for ``authorizationURL`` while the service is asked for what it takes.
    private var addressWaiters: [CheckedContinuation<Void, Never>] = []
    private var isPreparing: Bool
    let expectedAccount: Account?
    /// The one that was named, of a service with many; empty elsewhere.
    let server: String
    /// The client that started the login.
    let client: String
    private unowned let engine: Engine
    private var work: Task<Void, Never>?
    private var waiters: [CheckedContinuation<Account, any Error>] = []
    /// Waits until the login is forgotten.
    private var retention: Task<Void, Never>?

    init(
        number: Int, _ provider: any Provider, for account: Account?, at server: String,
        _ authorization: Authorization?, isPreparing: Bool, client: String, in engine: Engine
    ) {
        self.client = client
        self.isPreparing = isPreparing
        self.number = number
        self.authorization = authorization
        authorizationURL = authorization?.url ?? ""
        self.provider = provider
        expectedAccount = account
        self.server = server
        self.engine = engine
    }

    /// Waits for ``authorizationURL`` where it takes a while to find out; also for the end of the login.
    package func prepared() async {
        if isPreparing { await withCheckedContinuation { addressWaiters.append($0) } }
    }

    /// Takes over what was found out about the service: now the browser can be opened.
    ///
    /// - Throws: `CancellationError` when the login has ended meanwhile.
    func go(on authorization: Authorization) throws {
        guard !hasEnded else { throw CancellationError() }
        self.authorization = authorization
        authorizationURL = authorization.url
        endPreparing()
        engine.observer?.loginChanged(self)
    }

    private func endPreparing() {
        isPreparing = false
        for waiter in addressWaiters { waiter.resume() }
        addressWaiters.removeAll()
    }

    /// Takes what somebody pasted: a code, or the whole address that the browser ended on.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for a login without one, ``EngineError/invalidArgument(_:)``
    ///   for what is none; the login goes on.
    package func submit(_ code: String) throws {
        guard !isPreparing else {
            throw EngineError.invalidArgument("The service is still asked; wait for the address.")
        }
        guard !hasEnded || authorization == nil else {
            throw EngineError.cancelled("The login has ended already.")
        }
        guard let authorization else {
            throw EngineError.notSupported("This login takes no code.")
        }
        guard state == .waiting else {
            throw EngineError.invalidArgument("A code was given already; wait for the end.")
        }
        do {
            try authorization.submit(code)
        } catch {
            guard case .invalidCode(let reason) = error else { throw error }
            throw EngineError.invalidArgument(reason)
        }
        move(to: .exchanging)
    }

    package var hasEnded: Bool { state != .waiting && state != .exchanging }

    /// Lets the login go on.
    ///
    /// - Parameter work: Finds out who it is and makes the account. Runs in a task of its own, which is
    ///   cancelled with the login.
    func begin(_ work: @escaping @MainActor () async throws -> Account) {
        self.work = Task {
            let deadline = Task { [engine] in
                try await engine.ports.clock.sleep(for: Self.timeLimit)
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

    /// Notes that somebody was let in, and that the account is made now.
    ///
    /// - Throws: `CancellationError` when the login has ended meanwhile.
    func proceed() throws {
        guard !hasEnded else { throw CancellationError() }
        if state == .waiting { move(to: .exchanging) }
    }

    /// Makes sure that it is the user whom the caller expected.
    ///
    /// - Throws: ``EngineError/loginFailed(_:)``.
    func check(_ identity: AccountIdentity) throws {
        guard let expected = expectedAccount?.identity, !expected.isSameUser(as: identity) else {
            return
        }
        guard "\(expected)" != "\(identity)" else {
            throw EngineError.loginFailed(
                "That was another user with the name \("\(identity)".excerpt).")
        }
        throw EngineError.loginFailed(
            "That was \("\(identity)".excerpt), not \("\(expected)".excerpt).")
    }

    /// Waits for the end; at once if it has come already.
    package func wait() async throws -> Account {
        if let result { return try result.get() }
        return try await withCheckedThrowingContinuation { waiters.append($0) }
    }

    /// Ends the login. Returns when ``state`` has changed. A finished login does not change.
    ///
    /// The work may continue for a while, for example until a server replies; it stores nothing then.
    package func cancel() {
        guard !hasEnded else { return }
        work?.cancel()
        end(.cancelled, error: EngineError.cancelled("The login was cancelled."))
    }

    /// Waits until the work of the login has ended, and has undone what it did for a cancelled login.
    func waitForWork() async { await work?.value }

    private var result: Result<Account, any Error>? {
        if let account { return .success(account) }
        return error.map { .failure($0) }
    }

    private func move(to state: State) {
        self.state = state
        engine.observer?.loginChanged(self)
    }

    private func end(_ state: State, account: Account? = nil, error: (any Error)? = nil) {
        guard !hasEnded else { return }
        self.account = account
        self.error = error
        move(to: state)
        // Whoever waits tells the user.
        if state == .failed, waiters.isEmpty, let error { engine.noteFailure(of: self, error) }
        if state == .succeeded { engine.noteSuccess(of: self) }
        endPreparing()
        if let result {
            for waiter in waiters { waiter.resume(with: result) }
            waiters.removeAll()
        }
        if authorization != nil {
            Task { [engine] in
                // The browser still has to be told; then the port is free again.
                try? await engine.ports.clock.sleep(for: Self.farewell)
                authorization = nil
            }
        }
        retention = Task { [weak self, engine] in
            do { try await engine.ports.clock.sleep(for: Self.lingering) } catch { return }
            if let self { engine.logins.remove(self) }
        }
        engine.logins.finish(self)
    }

    /// Stops waiting, because the login is forgotten.
    func endRetention() { retention?.cancel() }
}
