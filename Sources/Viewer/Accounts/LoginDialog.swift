internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// One login: the form, then the progress.
final class LoginDialog: Dialog {
    private let owner: AccountDialogs
    private let provider: ProviderProperties
    private let account: AccountProperties?
    private lazy var pages = Stack(["form": makeForm(), "progress": makeProgress()])

    private let username = EntryRow(tr("User name"))
    private let password: EntryRow
    private let server = EntryRow(tr("Server"))
    private let fields = RowGroup("")
    private let problem = Label().wrapping()
    private let configureButton = Button(pill: tr("_Set up again"))

    private let progressLabel = Label().wrapping(atStart: false)
    private let spinner = Spinner(size: 48).aligned(.center, .center)
    private let browserBox = Box(.vertical, spacing: 12)
    private let address = Label().wrapping().selectable().styled("monospace")
    private let codeBox = Box(.vertical, spacing: 12)
    private let code = EntryRow(tr("Code or address"))

    private var login: LoginClient?
    private var isClosed = false
    private var hasOpenedBrowser = false

    /// - Parameters:
    ///   - owner: The dialogs of the window.
    ///   - provider: The provider to log in to.
    ///   - account: A known account to log in to again; nil for a new one.
    init(
        _ owner: AccountDialogs, _ provider: ProviderProperties,
        again account: AccountProperties? = nil
    ) {
        self.owner = owner
        self.provider = provider
        self.account = account
        password = EntryRow(
            provider.has("register") ? tr("Password (may be empty)") : tr("Key or password"),
            isPassword: true)
        super.init(
            owner.window, title: tr("Log in: {provider}", ["provider": provider.shownName]),
            height: provider.authentication == "oauth2" ? 640 : 480)
    }

    private var needsServer: Bool { provider.has("server") && account == nil }
    private var hasPassword: Bool { provider.authentication == "password" }
    /// True if the users are those of the provider. A service has keys, or users with a name and a password: the daemon
    /// does not report which of them it accepts.
    private var hasNames: Bool { hasPassword && !provider.needsKey }

    /// The warning for a server that is named with `http`, as at home.
    private var plainServer: String {
        hasPassword
            ? tr("Your key or password and your photos are sent to this server without encryption.")
            : tr("Your login and your photos are sent to this server without encryption.")
    }

    override func present() {
        content.append(pages)
        super.present()
        if !needsServer, !hasPassword { start() }
    }

    // MARK: Form

    private func makeForm() -> Box {
        let form = Box(.vertical, spacing: 18)
        if needsServer {
            fields.add(row: server)
            let hint = tr("The address of your server, such as photos.example.org")
            fields.setDescription(hint)
            server.onChange { [weak self] in
                guard let self else { return }
                let isPlain = server.text.lowercased().hasPrefix("http://")
                fields.setDescription(isPlain ? plainServer : hint)
            }
        }
        if hasNames {
            username.text = account?.username ?? Application.userName
            username.setSensitive(account == nil)
            fields.add(row: username)
        }
        if hasPassword { fields.add(row: password) }
        if provider.needsKey { form.append(Label(AccountDialogs.keyHint).wrapping()) }
        form.append(fields)
        if provider.needsKey {
            let names = RowGroup("", username)
            names.setDescription(
                tr(
                    "Only if the service accepts a password in place of a key: your user name there, which may be your email address"
                )
            )
            form.append(names)
        }
        problem.styled("error").isVisible = false
        configureButton.isVisible = false
        configureButton.onClick { [weak self] in
            guard let self else { return }
            close()
            ConfigureDialog(owner, provider).present()
        }
        let logIn = Button(pill: tr("_Log in"), isSuggested: true) { [weak self] in self?.start() }
        form.append(problem, logIn, configureButton)
        if hasNames, account == nil {
            form.append(
                Button(pill: tr("_Register a new user")) { [weak self] in
                    self?.start(isRegistration: true)
                })
        }
        for row in [username, password, server] {
            row.onSubmit { [weak self] in self?.start() }
        }
        return form
    }

    private func show(_ error: Problem) {
        problem.text = error.sentence
        problem.isVisible = true
        // The user may have mistyped the client ID or the secret.
        configureButton.isVisible =
            !provider.redirectAddress.isEmpty && !provider.has("server")
            && [.loginFailed, .notConfigured].contains(error.kind)
        pages.visiblePage = "form"
        let isName = [.userExists, .noSuchUser].contains(error.kind)
        (isName && hasNames ? username : hasPassword ? password : server).grabFocus()
    }

    private func options(isRegistration: Bool) -> [LoginOption: Variant] {
        var options: [LoginOption: Variant] = [:]
        options[.account] = account.map { .objectPath($0.path) }
        if needsServer { options[.server] = .string(server.text) }
        let sendsName = hasNames ? account == nil : hasPassword && !username.text.isEmpty
        if sendsName { options[.username] = .string(username.text) }
        if !password.text.isEmpty { options[.password] = Self.secret(password.text) }
        if isRegistration { options[.register] = .bool(true) }
        return options
    }

    // MARK: Progress

    private func makeProgress() -> Box {
        let openButton = Button(pill: tr("_Open the browser again")) { [weak self] in
            self?.openBrowser()
        }
        let copyButton = Button(pill: tr("_Copy the address")) { [weak self] in
            guard let self else { return }
            window.copy(address.text)
            progressLabel.text = tr("The address was copied. Open it in a browser.")
        }
        let submit = Button(pill: tr("_Submit the code")) { [weak self] in self?.submitCode() }
        code.onSubmit { [weak self] in self?.submitCode() }
        codeBox.append(
            Label(
                tr(
                    "If the browser shows a code, or runs on another computer, enter the code or the address at which it ended."
                )
            ).wrapping(), RowGroup("", code), submit)
        let trouble = Box(.vertical, spacing: 12, address, copyButton, openButton, codeBox)
        browserBox.append(trouble.expandable(tr("Trouble with the browser?")))
        let cancelButton = Button(pill: tr("_Cancel")) { [weak self] in self?.close() }
        return Box(.vertical, spacing: 18, spinner, progressLabel, browserBox, cancelButton)
    }

    private func start(isRegistration: Bool = false) {
        guard pages.visiblePage == "form" else { return }
        hasOpenedBrowser = false
        progressLabel.text = tr("Logging in…")
        browserBox.isVisible = false
        pages.visiblePage = "progress"
        Task {
            do {
                let client = owner.service.client
                let login = client.login(
                    try await client.startLogin(
                        provider.id, options(isRegistration: isRegistration)))
                self.login = login
                // The dialog was closed before the login had an object.
                if isClosed { return closed() }
                succeed(try await login.wait { [weak self] in self?.apply($0) })
            } catch {
                login = nil
                show(Problem(error))
            }
        }
    }

    private func apply(_ properties: [String: Variant]) {
        if let url = properties["AuthorizationUrl"]?.string, !url.isEmpty {
            address.text = url
            browserBox.isVisible = true
            // An OAuth request has this parameter (RFC 6749 §4.1.1). A service without a redirect shows no code.
            codeBox.isVisible = url.contains("response_type=")
            progressLabel.text = tr("Continue in the browser.")
            if !hasOpenedBrowser { openBrowser() }
        }
        if properties["State"]?.string == "exchanging" { progressLabel.text = tr("Logging in…") }
    }

    private func openBrowser() {
        hasOpenedBrowser = true
        guard let login else { return }
        Task {
            do {
                try await login.openBrowser()
            } catch {
                progressLabel.text =
                    tr("No browser could be started. Copy the address and open it in a browser.")
            }
        }
    }

    private func submitCode() {
        guard let login, !code.text.isEmpty else { return }
        Task {
            do {
                try await login.submitCode(code.text)
            } catch {
                progressLabel.text = Problem(error).sentence
            }
        }
    }

    private func succeed(_ path: ObjectPath) {
        login = nil
        let name = owner.service.account(path)?.label ?? provider.shownName
        owner.toasts.show(tr("Logged in: {account}", ["account": name]))
        close()
        owner.onLogin?(path)
    }

    override func closed() {
        isClosed = true
        guard let login else { return }
        self.login = nil
        // A login that has ended cannot be cancelled.
        Task { try? await login.cancel() }
    }
}
