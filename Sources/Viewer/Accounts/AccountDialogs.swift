internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// The dialogs for accounts: log in, profile, settings of a provider.
final class AccountDialogs {
    private let window: Window
    private let service: Service
    private let loader: ImageLoader
    private let toasts: ToastArea

    init(_ window: Window, _ service: Service, _ loader: ImageLoader, _ toasts: ToastArea) {
        self.window = window
        self.service = service
        self.loader = loader
        self.toasts = toasts
    }

    /// Lets the user choose where to log in.
    func chooseProvider() {
        let dialog = Dialog(window, title: tr("Log in"))
        let list = RowList()
        list.styled("boxed-list").setAccessibleName(tr("Services"))
        for provider in service.providers {
            let isUsable = provider.state == "ready" || provider.state == "not-configured"
            let row = ActionRow(
                provider.name, subtitle: isUsable ? Self.summary(provider) : provider.stateReason)
            row.addSuffix(Icon("go-next-symbolic"))
            row.setSensitive(isUsable)
            row.onActivate { [weak self, weak dialog] in
                dialog?.close()
                self?.logIn(to: provider)
            }
            list.append(row)
        }
        dialog.content.append(
            Label(tr("Choose a service. You can log in to any number of accounts.")).wrapping())
        dialog.content.append(list)
        dialog.present()
    }

    private static func summary(_ provider: ProviderProperties) -> String {
        if !provider.isConfigured { return tr("Needs to be set up first") }
        if provider.has("register") { return tr("Photos in your pictures folder") }
        if provider.has("server") { return tr("Log in at your server") }
        return switch provider.authentication {
        case "oauth2": tr("Log in with the browser")
        case "none": tr("Needs no user name")
        default: tr("Log in with a key or a password")
        }
    }

    /// Logs in to a provider.
    func logIn(to provider: ProviderProperties) {
        guard provider.isConfigured else { return configure(provider) }
        showLogin(provider)
    }

    /// Logs in to a known account again, or to one of the user's choice if it is unknown or the combined one.
    func logIn(again account: AccountProperties?) {
        guard let account, let provider = service.provider(of: account) else {
            return chooseProvider()
        }
        showLogin(provider, again: account)
    }

    private func showLogin(
        _ provider: ProviderProperties, again account: AccountProperties? = nil
    ) {
        LoginDialog(window, service, loader, toasts, provider, again: account).present()
    }

    /// Shows the settings of a provider, and logs in after they were saved.
    func configure(_ provider: ProviderProperties) {
        ConfigureDialog(window, service, provider) { [weak self] in
            self?.showLogin(provider)
        }.present()
    }

    /// Shows the settings of the provider of an account.
    func configure(_ account: AccountProperties?) {
        guard let provider = account.flatMap(service.provider) else { return chooseProvider() }
        configure(provider)
    }

    /// Shows the profile of an account.
    func showProfile(_ path: ObjectPath) {
        guard let account = service.account(path) else { return }
        ProfileDialog(window, service, loader, toasts, account) { [weak self] in
            self?.logIn(again: account)
        }.present()
    }
}
