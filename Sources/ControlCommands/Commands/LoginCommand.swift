internal import ArgumentParser
internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import System
internal import Translation

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: tr("Log in, and print the account's ID."),
        discussion: tr(
            """
            If the login needs a browser, the URL to open is printed on a line of its own (with --json, \
            to standard error). If the login needs a password, the command prompts for it. Ctrl-C \
            cancels the login. “login local” alone creates a local user with the name of the session's user, \
            without a password, if there is no local user yet.
            """))

    @Argument(help: .tr("The ID of a provider, as listed by “imagefeedctl providers”."))
    var provider: String
    @Option(help: .tr("Log in again to this known account."))
    var account: String?
    @Option(help: .tr("The user name, for example of a local user."))
    var username: String?
    @Flag(help: .tr("Create the local user."))
    var register = false
    @Flag(help: .tr("Create the local user without a password, and do not prompt."))
    var noPassword = false
    @Option(help: .tr("The server of a service with many servers, such as photos.example.org."))
    var server: String?
    @Option(help: .tr("Read the password from this file; - reads standard input."))
    var passwordFile: PathBytes?
    @Flag(help: .tr("Do not open the browser."))
    var noBrowser = false
    @Flag(
        help: .tr("Prompt for the code that the service shows, instead of waiting for the browser.")
    )
    var manual = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard noPassword else { return }
        if !register { throw ValidationError(tr("--no-password requires --register.")) }
        try exclude(("--no-password", noPassword), ("--password-file", passwordFile != nil))
    }

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let dialogue = LoginDialogue(service, self)
        let options = try await options(service)
        let path: ObjectPath
        do {
            path = try await logIn(dialogue, options)
        } catch let error as BusError where error.isReply(.notConfigured) {
            // Only a provider with a redirect URI has the settings that the command changes.
            let redirectAddress = try? await service.provider(provider).redirectAddress
            let advice =
                redirectAddress?.isEmpty == false
                ? tr("Run “imagefeedctl configure {provider}”.", ["provider": provider]) : nil
            throw CommandFailure(error, advice: advice)
        } catch let error as BusError where error.isReply(.rateLimited) {
            // “imagefeedctl status” shows no retry of a login. The daemon's message says to try again later.
            throw CommandFailure(.tryLater, error.explanation())
        } catch let error as BusError where error.isReply(.alreadyLoggedIn) {
            // As at a service: a login to a known account succeeds.
            let name = options[.username]?.string?.lowercased()
            let known = try await service.snapshot().accounts.first {
                $0.path == options[.account]?.objectPath
                    || $0.providerID == provider && $0.username.lowercased() == name
            }
            guard let known else { throw error }
            Console.printMessage(CommandFailure(error).message)
            path = known.path
        }
        let properties = try await service.account(path).properties(.account)
        try output.show(JSON(properties, of: .account)) { _ in [path.lastElement] }
        let snapshot = try await service.snapshot()
        let option =
            snapshot.defaultAccount == path
            ? "" : " --account \(snapshot.shortIDs[path.lastElement] ?? path.lastElement)"
        Console.printMessage(
            tr("List the photos with “imagefeedctl feed{option}”.", ["option": option]))
    }

    /// Logs in. If the daemon reports a wrong password and none was given, prompts for the password and logs in again.
    @MainActor private func logIn(
        _ dialogue: LoginDialogue, _ options: [LoginOption: Variant]
    ) async throws -> ObjectPath {
        do {
            return try await dialogue.logIn(options)
        } catch let error as BusError where error.isReply(.wrongPassword) {
            guard options[.password] == nil else { throw error }
            guard Console.canPrompt, let password = try await SecretKind.password.prompt()
            else {
                throw CommandFailure(
                    error,
                    advice:
                        tr(
                            "Pass the password with --password-file FILE, or with - for standard input."
                        )
                )
            }
            let known = options.merging([.password: .fileDescriptor(password)]) { $1 }
            return try await dialogue.logIn(known)
        }
    }

    /// Returns the options of the D-Bus method `Login`; prompts for the user name and a new password if they are
    /// missing.
    ///
    /// - Throws: ``CommandFailure`` if the account or provider does not exist, or if input is missing and there is no
    ///   terminal. No login has been started then.
    @MainActor private func options(
        _ service: ServiceClient
    ) async throws -> [LoginOption: Variant] {
        let provider = try await service.provider(provider)
        let snapshot = try await service.snapshot()
        let account = try account.map { (name) throws(CommandFailure) in try snapshot.account(name)
        }
        let hasPasswords = provider.authentication == "password"
        // A provider that cannot register users has passwords that identify the user, such as API keys.
        let hasNames = hasPasswords && provider.capabilities.contains("register")
        var (username, register, noPassword) = (username, register, noPassword)
        if hasNames, account == nil, username == nil {
            let users = snapshot.accounts.filter { $0.provider == provider.path }
            if users.isEmpty, !register, let name = Self.loginName {
                (username, register, noPassword) = (name, true, passwordFile == nil)
            } else if users.count == 1, !register {
                username = users[0].username
            } else if noPassword {
                username = Self.loginName
            }
            if username == nil { username = try await promptForName() }
        }
        if provider.capabilities.contains("server"), account == nil, server == nil {
            throw CommandFailure.tr(
                "{provider} has many servers. Name yours with --server HOST, for example --server photos.example.org.",
                ["provider": provider.name], status: .usage)
        }
        var options: [LoginOption: Variant] = [:]
        options[.account] = account.map { .objectPath($0.path) }
        options[.username] = username.map { .string($0) }
        options[.server] = server.map { .string($0) }
        options[.register] = register ? .bool(true) : nil
        options[.manual] = manual ? .bool(true) : nil
        if let passwordFile {
            options[.password] = .fileDescriptor(
                try await SecretKind.password.read(from: passwordFile))
        } else if noPassword {
            // A login without a password.
        } else if register, hasPasswords, Console.canPrompt {
            let password = try await SecretKind.promptForNewPassword()
            options[.password] = password.map { .fileDescriptor($0) }
        } else if hasPasswords, !hasNames {
            options[.password] = .fileDescriptor(
                try await promptForKey(provider, hasUsername: username != nil))
        }
        return options
    }

    /// The name of the user of this process; nil if it is unknown.
    private static var loginName: String? {
        getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) }
    }

    /// Prompts for the key of a service, or for the password if a user is named: some services accept both.
    @MainActor private func promptForKey(
        _ provider: ProviderProperties, hasUsername: Bool
    ) async throws(CommandFailure) -> FileDescriptor {
        guard Console.canPrompt else {
            throw CommandFailure.tr(
                "{provider} requires a key. Pass it with --password-file FILE, or with - for standard input.",
                ["provider": provider.name], status: .usage)
        }
        let isPlain = server?.lowercased().hasPrefix("http://") == true
        let names: KeyValuePairs = ["provider": provider.name, "server": server ?? ""]
        let question =
            switch (hasUsername, isPlain) {
            case (false, false): tr("Key of {provider}:", names)
            case (true, false): tr("Password or key of {provider}:", names)
            case (false, true):
                tr("Key of {provider} at {server}, sent without encryption:", names)
            case (true, true):
                tr("Password or key of {provider} at {server}, sent without encryption:", names)
            }
        guard let key = try await SecretKind.key.prompt(question) else {
            throw CommandFailure.tr("No key was entered.")
        }
        return key
    }

    @MainActor private func promptForName() async throws(CommandFailure) -> String {
        guard Console.canPrompt else {
            let values: KeyValuePairs = ["provider": provider]
            throw register
                ? .tr("A login to {provider} needs --username NAME.", values, status: .usage)
                : .tr(
                    "A login to {provider} needs --username NAME. To create a user, add --register.",
                    values, status: .usage)
        }
        let name = await StandardInput.line(tr("User name:")) ?? ""
        guard !name.isEmpty else { throw CommandFailure.tr("No user name was entered.") }
        return name
    }
}
