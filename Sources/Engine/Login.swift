package import ProviderKit

/// What the caller of a login gave.
package struct LoginOptions {
    /// The known account that is to be logged in again.
    package var account: Account?
    package var username: String?
    package var hasPassword = false
    package var registers = false
    package var server: String?

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

    /// How many logins of all callers may go on at a time.
    nonisolated package static let maximumUnfinished = 16

    package let number: Int
    package let provider: any Provider
    package private(set) var state = State.waiting
    package private(set) var account: Account?
    package private(set) var error: (any Error)?
    private let expectedAccount: Account?
    private unowned let engine: Engine
    private var work: Task<Void, Never>?
    private var waiters: [CheckedContinuation<Account, any Error>] = []

    init(number: Int, _ provider: any Provider, for account: Account?, in engine: Engine) {
        self.number = number
        self.provider = provider
        expectedAccount = account
        self.engine = engine
    }

    package var hasEnded: Bool { state != .waiting && state != .exchanging }

    /// Lets the login go on.
    ///
    /// - Parameters:
    ///   - authenticate: Finds out who it is.
    ///   - undo: Takes back what `authenticate` has done, when nothing comes of the login.
    func begin(
        _ authenticate: @escaping @MainActor () async throws -> AccountIdentity,
        undo: @escaping @MainActor (AccountIdentity) async throws -> Void
    ) {
        work = Task {
            let deadline = Task { [engine] in
                try await engine.clock.sleep(for: Self.timeLimit)
                end(.failed, error: EngineError.loginTimedOut)
                work?.cancel()
            }
            defer { deadline.cancel() }
            do {
                let identity = try await authenticate()
                do {
                    try checkRunning()
                    move(to: .exchanging)
                    end(.succeeded, account: try await admit(identity))
                } catch {
                    // In a task of its own, since this one may be cancelled. What cannot be taken back
                    // stays; the error that led here is the one to tell.
                    _ = await Task { try await undo(identity) }.result
                    throw error
                }
            } catch {
                end(.failed, error: error)
            }
        }
    }

    /// Waits for the end; at once if it has come already.
    package func wait() async throws -> Account {
        if let result { return try result.get() }
        return try await withCheckedThrowingContinuation { waiters.append($0) }
    }

    /// Ends the login, and returns when nothing of it is kept. One that has ended stays as it is.
    package func cancel() async {
        guard !hasEnded else { return }
        work?.cancel()
        end(.cancelled, error: EngineError.cancelled("The login was cancelled."))
        await work?.value
    }

    private var result: Result<Account, any Error>? {
        if let account { return .success(account) }
        return error.map { .failure($0) }
    }

    private func admit(_ identity: AccountIdentity) async throws -> Account {
        if let expectedAccount, expectedAccount.identity != identity {
            throw EngineError.loginFailed(
                "That was \(identity.username), not \(expectedAccount.identity.username).")
        }
        if provider is any PasswordLogin, engine.account(identity, of: provider)?.isLoggedIn == true
        {
            throw EngineError.alreadyLoggedIn("\(identity.username) is logged in already.")
        }
        return try await engine.admit(identity, provider) { !hasEnded }
    }

    private func checkRunning() throws {
        guard !hasEnded else { throw CancellationError() }
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
        if let result {
            for waiter in waiters { waiter.resume(with: result) }
            waiters.removeAll()
        }
        Task { [engine] in
            try? await engine.clock.sleep(for: Self.lingering)
            engine.forget(self)
        }
    }
}
