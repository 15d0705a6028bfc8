internal import Contract
internal import DBus
internal import Translation

/// One login attempt, with its prompts; Ctrl-C cancels it.
@MainActor
final class LoginDialogue {
    private let service: ServiceClient
    private let command: LoginCommand
    /// The task that shows the URL, opens the browser and prompts for the code; nil until the URL is known.
    private var browserTask: Task<Void, Never>?
    /// The reason why the dialogue cancelled the login.
    private var failure: CommandFailure?

    init(_ service: ServiceClient, _ command: LoginCommand) {
        self.service = service
        self.command = command
    }

    /// Logs in. There is no timeout, except that of the daemon.
    ///
    /// - Parameter options: The options of the D-Bus method `Login`.
    /// - Returns: The account.
    /// - Throws: ``BusError``; `CancellationError` after Ctrl-C; ``CommandFailure`` if no code was entered.
    func logIn(_ options: [LoginOption: Variant]) async throws -> ObjectPath {
        try await Interruption.run { interruption in
            do {
                let login = service.login(try await service.startLogin(command.provider, options))
                await interruption.setCancel { try await login.cancel() }
                defer { browserTask?.cancel() }
                // If the daemon must first send requests to the service, the URL follows as a property change.
                return try await login.wait { [weak self] properties in
                    self?.handleAddress(properties["AuthorizationUrl"]?.string ?? "", login)
                }
            } catch {
                throw failure ?? error
            }
        }
    }

    /// Starts the browser task when the authorization URL becomes known; does nothing for an empty or a second one.
    private func handleAddress(_ address: String, _ login: LoginClient) {
        guard !address.isEmpty, browserTask == nil else { return }
        browserTask = Task {
            do throws(CommandFailure) {
                if command.output.json {
                    Console.printMessage(address)
                } else {
                    try Console.write(TerminalText.fields([address]))
                }
            } catch {
                return await cancel(login, error)
            }
            if !command.noBrowser {
                do {
                    try await login.openBrowser()
                } catch {
                    Console.printMessage(
                        tr("The browser could not be opened. Open the address above in a browser."))
                }
            }
            if command.manual || Self.isOutOfBand(address) {
                await promptForCode(login)
            } else {
                Console.printMessage(
                    tr("Waiting for the login in the browser. Ctrl-C cancels the login."))
            }
        }
    }

    /// Prompts until the daemon accepts a code. If a wrong code ends the login, the D-Bus method `Wait` returns the
    /// error.
    private func promptForCode(_ login: LoginClient) async {
        while !Task.isCancelled {
            let prompt = tr("Paste the code, or the last address in the browser:")
            guard let code = await StandardInput.line(prompt) else {
                return await cancel(
                    login, .tr("The login was cancelled, because no code was entered."))
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

    private func cancel(_ login: LoginClient, _ reason: CommandFailure) async {
        failure = reason
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
