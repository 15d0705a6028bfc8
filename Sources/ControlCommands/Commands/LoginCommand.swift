internal import ArgumentParser
internal import BusAPI
internal import DBus

struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Log in, and print the account's ID.",
        discussion: """
            Where a browser is needed, its address is printed alone on a line (with --json, on \
            standard error). A password is asked for where one is needed. Ctrl-C cancels the login.
            """)

    @Argument(help: "What “providers” lists: local, for example.")
    var provider: String
    @Option(help: "Log in to this known account again.")
    var account: String?
    @Option(help: "The name of a local user.")
    var username: String?
    @Flag(help: "Create the local user.")
    var register = false
    @Option(help: "The server of a federated service.")
    var server: String?
    @Option(help: "Read the password from this file; - is standard input.")
    var passwordFile: PathBytes?
    @Flag(help: "Do not open the browser.")
    var noBrowser = false
    @Flag(help: "Ask for the code that the service shows.")
    var manual = false
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let dialogue = LoginDialogue(
            session.client, addressOnStandardError: output.json, opensBrowser: !noBrowser,
            asksForCode: manual)
        let options = try await options(session)
        let path: ObjectPath
        do {
            path = try await logIn(dialogue, options)
        } catch let error as BusError where error.isReply(.notConfigured) {
            throw CommandFailure(error, advice: "Run “imagefeedctl configure \(provider)”.")
        }
        let properties = try await session.client.account(path).properties(.account)
        try output.show(
            LoggedIn(id: AccountRecord.id(of: path), properties: properties))
    }

    /// Logs in; asks for the password if it turns out that one is needed.
    @MainActor private func logIn(
        _ dialogue: LoginDialogue, _ options: [LoginOption: Variant]
    ) async throws -> ObjectPath {
        do {
            return try await dialogue.logIn(to: provider, options)
        } catch let error as BusError where error.isReply(.wrongPassword) {
            guard options[.password] == nil else { throw error }
            guard Console.canAsk, let password = try await SecretFile.ask(for: "password") else {
                throw CommandFailure(
                    error,
                    advice:
                        "Hand the password over with --password-file FILE, or - for standard input."
                )
            }
            let known = options.merging([.password: .fileDescriptor(password)]) { $1 }
            return try await dialogue.logIn(to: provider, known)
        }
    }

    /// - Throws: ``CommandFailure`` for options that cannot succeed, before anything is started.
    @MainActor private func options(
        _ session: ServiceSession
    ) async throws -> [LoginOption: Variant] {
        let snapshot = try await session.snapshot()
        let account = try account.map { (name) throws(CommandFailure) in try snapshot.account(name)
        }
        let provider = try snapshot.provider(provider)
        let hasPasswords = provider.authentication == "password"
        // Users with names of their own can register. A key that a service gives its users says whose it is.
        let hasNames = hasPasswords && provider.capabilities.contains("register")
        var username = username
        if hasNames, account == nil, username == nil { username = try await askForName() }
        var options: [LoginOption: Variant] = [:]
        options[.account] = account.map { .objectPath($0.path) }
        options[.username] = username.map { .string($0) }
        options[.server] = server.map { .string($0) }
        options[.register] = register ? .bool(true) : nil
        options[.manual] = manual ? .bool(true) : nil
        if let passwordFile {
            options[.password] = .fileDescriptor(
                try await SecretFile(passwordFile, "password").descriptor())
        } else if register, hasPasswords, Console.canAsk {
            let password = try await SecretFile.askForNew("password")
            options[.password] = password.map { .fileDescriptor($0) }
        }
        return options
    }

    @MainActor private func askForName() async throws(CommandFailure) -> String {
        guard Console.canAsk else {
            throw CommandFailure(
                .usage, "A login to \(provider) needs --username NAME; --register creates the user."
            )
        }
        Console.ask("User name:")
        let name = (await StandardInput.line() ?? "").trimmed
        guard !name.isEmpty else { throw CommandFailure(.failed, "No name was entered.") }
        return name
    }
}

/// The account that a login ended with.
struct LoggedIn: Renderable {
    let id: String
    let properties: [String: Variant]

    var json: JSON { JSON(properties, order: PropertyOrder.account) }
    func text(for medium: OutputTarget) -> String { id + "\n" }
}
