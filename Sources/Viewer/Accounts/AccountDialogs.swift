internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// The dialogs for accounts: log in, settings of a provider.
final class AccountDialogs {
    let window: Window
    let service: Service
    let toasts: ToastArea
    /// Called after a login with its account, which may not be known yet.
    var onLogin: ((ObjectPath) -> Void)?

    init(_ window: Window, _ service: Service, _ toasts: ToastArea) {
        self.window = window
        self.service = service
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
                provider.shownName,
                subtitle: isUsable ? Self.summary(provider) : provider.stateReason)
            row.addPrefix(Icon(provider.iconName, size: 24))
            row.addSuffix(Icon("go-next-symbolic"))
            row.setSensitive(isUsable)
            row.onActivate { [weak self, weak dialog] in
                dialog?.close()
                self?.logIn(to: provider)
            }
            list.append(row)
        }
        dialog.content.append(
            Label(tr("Choose a service. You can log in to any number of accounts.")).wrapping(),
            list)
        dialog.present()
    }

    private static func summary(_ provider: ProviderProperties) -> String {
        if !provider.isConfigured { return tr("Needs to be set up first") }
        if provider.has("register") { return tr("Photos in your pictures folder") }
        if provider.needsKey { return keyHint }
        if provider.has("server") { return tr("Log in at your server") }
        return provider.authentication == "oauth2"
            ? tr("Log in with the browser") : tr("Needs no user name")
    }

    static var keyHint: String {
        tr("Needs a key, which you make in the account settings of the service")
    }

    /// Logs in to a provider.
    func logIn(to provider: ProviderProperties) {
        guard provider.isConfigured else { return ConfigureDialog(self, provider).present() }
        LoginDialog(self, provider).present()
    }

    /// Logs in to a known account again, or to one of the user's choice if it is unknown or the combined one.
    func logIn(again account: AccountProperties?) {
        guard let account, let provider = service.provider(of: account) else {
            return chooseProvider()
        }
        LoginDialog(self, provider, again: account).present()
    }

    /// Shows the settings of the provider of an account.
    func configure(_ account: AccountProperties?) {
        guard let provider = account.flatMap(service.provider) else { return chooseProvider() }
        ConfigureDialog(self, provider).present()
    }
}
