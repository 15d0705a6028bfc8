internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// The settings of a provider that the user gets from its service.
final class ConfigureDialog: Dialog {
    private let client: ProviderClient
    private let onSaved: () -> Void
    private let identifier = EntryRow(tr("Client ID"))
    private let secret = EntryRow(tr("Client secret"), isPassword: true)
    private let problem = Label().wrapping()
    private let save = Button(tr("_Save"))

    /// - Parameters:
    ///   - parent: The window.
    ///   - service: The daemon.
    ///   - provider: The provider.
    ///   - onSaved: Called after the settings were saved.
    init(
        _ parent: Window, _ service: Service, _ provider: ProviderProperties,
        onSaved: @escaping () -> Void
    ) {
        client = service.client.provider(provider.path)
        self.onSaved = onSaved
        super.init(parent, title: tr("Set up {provider}", ["provider": provider.name]), height: 520)
        if !provider.help.isEmpty {
            let help = Label().wrapping().selectable()
            help.setTextWithLinks(provider.help)
            content.append(help)
        }
        content.add(fact: tr("Redirect address"), provider.redirectAddress)
        content.append(RowGroup("", identifier, secret))
        problem.styled("error").isVisible = false
        content.append(problem)
        save.styled("suggested-action", "pill").aligned(.center, .start)
        content.append(save)
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
                try await client.configure(settings)
                close()
                onSaved()
            } catch {
                save.setSensitive(true)
                problem.text = Problem(error).sentence
                problem.isVisible = true
            }
        }
    }
}
