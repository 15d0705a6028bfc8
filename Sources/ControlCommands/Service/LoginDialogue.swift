internal import BusAPI
internal import DBus
internal import Glibc

/// One login, from its start to its account; Ctrl-C cancels it.
@MainActor
final class LoginDialogue {
    private let client: ServiceClient
    private let addressOnStandardError: Bool
    private let opensBrowser: Bool
    private let asksForCode: Bool
    private var login: LoginClient?
    /// Leads through what the browser is needed for.
    private var guidance: Task<Void, Never>?
    private var failure: (any Error)?
    private var isInterrupted = false
    private var hasNoCode = false

    init(
        _ client: ServiceClient, addressOnStandardError: Bool, opensBrowser: Bool,
        asksForCode: Bool
    ) {
        self.client = client
        self.addressOnStandardError = addressOnStandardError
        self.opensBrowser = opensBrowser
        self.asksForCode = asksForCode
    }

    /// Logs in, however long the person takes.
    ///
    /// - Parameters:
    ///   - provider: The provider's id.
    ///   - options: What is known beforehand.
    /// - Returns: The account.
    /// - Throws: ``BusError``; `CancellationError` after Ctrl-C; ``CommandFailure`` when no code came.
    func logIn(
        to provider: String, _ options: [LoginOption: Variant]
    ) async throws -> ObjectPath {
        let watch = SignalWatch { [weak self] in self?.interrupt() }
        defer { withExtendedLifetime(watch) {} }
        do {
            let login = client.login(try await client.manager.login(provider, options))
            self.login = login
            if isInterrupted { try await login.cancel() }
            return try await finish(login)
        } catch {
            if isInterrupted { throw CancellationError() }
            if let failure { throw failure }
            if hasNoCode { throw CommandFailure(.failed, "The login was cancelled: no code came.") }
            throw error
        }
    }

    private func finish(_ login: LoginClient) async throws -> ObjectPath {
        // Where the service has to be asked for it, the address comes later.
        let addresses = try await login.watch { [weak self] changes in
            self?.present(changes["AuthorizationUrl"]?.string ?? "", login)
        }
        present(try await login.properties()["AuthorizationUrl"]?.string ?? "", login)
        defer {
            withExtendedLifetime(addresses) {}
            guidance?.cancel()
        }
        let account = try await login.wait()
        if let failure { throw failure }
        return account
    }

    /// Shows the address, once there is one, and guides the person from there.
    private func present(_ address: String, _ login: LoginClient) {
        guard !address.isEmpty, guidance == nil else { return }
        guidance = Task {
            do {
                try show(address)
            } catch {
                failure = error
                return await cancel(login)
            }
            if opensBrowser { await openBrowser(login) }
            if asksForCode || Self.isOutOfBand(address) {
                await askForCode(login)
            } else {
                Console.note("Waiting for the browser. Ctrl-C cancels the login.")
            }
        }
    }

    private func show(_ address: String) throws {
        if addressOnStandardError {
            Console.note(address)
        } else {
            try Console.write(TerminalText.line(address) + "\n")
        }
    }

    private func openBrowser(_ login: LoginClient) async {
        do {
            try await login.openBrowser()
        } catch {
            Console.note("The browser does not open by itself; open the address in it.")
        }
    }

    /// Asks until the daemon takes an answer. A wrong one may also end the login: then `Wait` says so.
    private func askForCode(_ login: LoginClient) async {
        while !Task.isCancelled {
            Console.ask("Paste the code, or the address that the browser ended on:")
            guard let code = await StandardInput.line()?.trimmed else {
                hasNoCode = true
                return await cancel(login)
            }
            guard !code.isEmpty else { continue }
            do {
                return try await login.submitCode(code)
            } catch {
                if let error = error as? BusError { Console.note(CommandFailure(error).message) }
            }
        }
    }

    private func interrupt() {
        // The second Ctrl-C does not wait for the daemon.
        if isInterrupted { exit(ProgramStatus.interrupted.rawValue) }
        isInterrupted = true
        guard let login else { return }
        Task { await cancel(login) }
    }

    private func cancel(_ login: LoginClient) async {
        // A login that has just ended cannot be cancelled; `Wait` tells how it ended.
        try? await login.cancel()
    }

    /// Whether the service will show a code instead of sending the browser back: the way out when the
    /// daemon's port was taken.
    nonisolated static func isOutOfBand(_ address: String) -> Bool {
        let address = address.lowercased()
        return address.contains(outOfBandAddress.replacing(":", with: "%3a"))
            || address.contains(outOfBandAddress)
    }

    /// The redirect address of a login whose code is pasted.
    ///
    /// Source: the contract; it is what services agree on.
    nonisolated static let outOfBandAddress = "urn:ietf:wg:oauth:2.0:oob"
}
