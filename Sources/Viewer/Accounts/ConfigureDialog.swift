internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// The settings of a provider that the user gets from its service. A login follows after they were saved.
final class ConfigureDialog: Dialog {
    private let owner: AccountDialogs
    private let provider: ProviderProperties
    private let identifier = EntryRow(tr("Client ID"))
    private let secret = EntryRow(tr("Client secret"), isPassword: true)
    private let problem = Label().wrapping().styled("error")
    private let save = Button(pill: tr("_Save"), isSuggested: true)

    init(_ owner: AccountDialogs, _ provider: ProviderProperties) {
        self.owner = owner
        self.provider = provider
        super.init(
            owner.window, title: tr("Set up {provider}", ["provider": provider.shownName]),
            height: 520)
        if !provider.help.isEmpty {
            let help = Label().wrapping().selectable()
            help.setTextWithLinks(provider.help)
            content.append(help)
        }
        content.add(fact: tr("Redirect address"), provider.redirectAddress)
        problem.isVisible = false
        content.append(RowGroup("", identifier, secret), problem, save)
        save.onClick { [weak self] in self?.submit() }
        secret.onSubmit { [weak self] in self?.submit() }
        // Otherwise the first selectable text gets the focus and is selected.
        identifier.grabFocus()
    }

    private func submit() {
        var settings: [ProviderSetting: Variant] = [:]
        if !identifier.text.isEmpty { settings[.clientID] = .string(identifier.text) }
        if !secret.text.isEmpty { settings[.clientSecret] = Self.secret(secret.text) }
        save.setSensitive(false)
        Task {
            do {
                try await owner.service.client.provider(provider.path).configure(settings)
                close()
                LoginDialog(owner, provider).present()
            } catch {
                save.setSensitive(true)
                problem.text = Problem(error).sentence
                problem.isVisible = true
            }
        }
    }
}
