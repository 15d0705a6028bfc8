internal import Contract
internal import DBus
internal import Glibc
internal import Translation

/// One login attempt, with its prompts; Ctrl-C cancels it.
@MainActor
final class LoginDialogue {
    private let client: ServiceClient
    private let printsAddressToStandardError: Bool
    private let opensBrowser: Bool
    private let promptsForCode: Bool
    private var login: LoginClient?
    /// The task that shows the URL, opens the browser and prompts for the code; nil until the URL is known.
    private var browserTask: Task<Void, Never>?
    private var failure: (any Error)?
    private var isInterrupted = false
    private var isCodeMissing = false

    init(
        _ client: ServiceClient, printsAddressToStandardError: Bool, opensBrowser: Bool,
        promptsForCode: Bool
    ) {
        self.client = client
        self.printsAddressToStandardError = printsAddressToStandardError
        self.opensBrowser = opensBrowser
        self.promptsForCode = promptsForCode
    }

    /// Logs in. There is no timeout, except that of the daemon.
    ///
    /// - Parameters:
    ///   - provider: The provider's ID.
    ///   - options: The options of the D-Bus method `Login`.
    /// - Returns: The account.
    /// - Throws: ``BusError``; `CancellationError` after Ctrl-C; ``CommandFailure`` if no code was entered.
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
            if isCodeMissing {
                throw CommandFailure(
                    .failed, tr("The login was cancelled, because no code was entered."))
            }
            throw error
        }
    }

    private func finish(_ login: LoginClient) async throws -> ObjectPath {
        // If the daemon must first send requests to the service, the URL follows as a property change.
        let addresses = try await login.watch { [weak self] changes in
            self?.handleAddress(changes["AuthorizationUrl"]?.string ?? "", login)
        }
        handleAddress(try await login.properties()["AuthorizationUrl"]?.string ?? "", login)
        defer {
            withExtendedLifetime(addresses) {}
            browserTask?.cancel()
        }
        let account = try await login.wait()
        if let failure { throw failure }
        return account
    }

    /// Starts the browser task when the authorization URL becomes known; does nothing for an empty or a second one.
    private func handleAddress(_ address: String, _ login: LoginClient) {
        guard !address.isEmpty, browserTask == nil else { return }
        browserTask = Task {
            do {
                try show(address)
            } catch {
                failure = error
                return await cancel(login)
            }
            if opensBrowser { await openBrowser(login) }
            if promptsForCode || Self.isOutOfBand(address) {
                await promptForCode(login)
            } else {
                Console.printMessage(
                    tr("Waiting for the login in the browser. Ctrl-C cancels the login."))
            }
        }
    }

    private func show(_ address: String) throws {
        if printsAddressToStandardError {
            Console.printMessage(address)
        } else {
            try Console.write(TerminalText.line(address) + "\n")
        }
    }

    private func openBrowser(_ login: LoginClient) async {
        do {
            try await login.openBrowser()
        } catch {
            Console.printMessage(
                tr("The browser could not be opened. Open the address above in a browser."))
        }
    }

    /// Prompts until the daemon accepts a code. If a wrong code ends the login, the D-Bus method `Wait` returns the
    /// error.
    private func promptForCode(_ login: LoginClient) async {
        while !Task.isCancelled {
            Console.prompt(tr("Paste the code, or the last address in the browser:"))
            guard let code = await StandardInput.line()?.trimmed else {
                isCodeMissing = true
                return await cancel(login)
            }
            guard !code.isEmpty else { continue }
            do {
                return try await login.submitCode(code)
            } catch {
                if let error = error as? BusError {
                    Console.printMessage(CommandFailure(error).message)
                }
            }
        }
    }

    private func interrupt() {
        // A second Ctrl-C exits without waiting for the daemon.
        if isInterrupted { exit(ProgramStatus.interrupted.rawValue) }
        isInterrupted = true
        guard let login else { return }
        Task { await cancel(login) }
    }

    private func cancel(_ login: LoginClient) async {
        // If the login has already ended, `Cancel` fails, and `Wait` returns the result.
        try? await login.cancel()
    }

    /// Returns true if the service will show a code instead of redirecting the browser.
    ///
    /// The daemon uses this kind of login if another program uses its port.
    nonisolated static func isOutOfBand(_ address: String) -> Bool {
        let address = address.lowercased()
        return address.contains(outOfBandAddress.replacing(":", with: "%3a"))
            || address.contains(outOfBandAddress)
    }

    /// The redirect URI of a manual login.
    ///
    /// Source: the D-Bus interface `Login`; services use this URI by convention.
    nonisolated static let outOfBandAddress = "urn:ietf:wg:oauth:2.0:oob"
}
