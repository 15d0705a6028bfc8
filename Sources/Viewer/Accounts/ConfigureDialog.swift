internal import BusAPI
internal import DBus
internal import Toolkit

/// The settings of a provider that the user gets from its service.
final class ConfigureDialog {
    private let dialog: Dialog
    private let service: Service
    private let provider: Provider
    private let identifier = EntryRow("Client ID")
    private let secret = EntryRow("Client secret", isPassword: true)
    private let problem = Label().wrapping()
    private let save = Button("_Save")

    init(_ parent: Window, _ service: Service, _ provider: Provider) {
        self.service = service
        self.provider = provider
        dialog = Dialog(parent, title: "Set up \(provider.name)", height: 520)
    }

    /// - Parameter onSaved: Called after the settings were saved.
    func present(onSaved: @escaping () -> Void) {
        if !provider.help.isEmpty {
            let help = Label().wrapping().selectable()
            help.setTextWithLinks(provider.help)
            dialog.content.append(help)
        }
        if !provider.redirectURI.isEmpty {
            let uri = Label(provider.redirectURI).wrapping().selectable()
            dialog.content.append(Box(fact: "Redirect address", uri))
        }
        dialog.content.append(RowGroup("", identifier, secret))
        problem.styled("error").isVisible = false
        dialog.content.append(problem)
        save.styled("suggested-action", "pill").aligned(.center, .start)
        dialog.content.append(save)
        save.onClick { [self] in submit(onSaved) }
        secret.onSubmit { [self] in submit(onSaved) }
        // Otherwise the first selectable text gets the focus and is selected.
        identifier.grabFocus()
        dialog.present()
    }

    private func submit(_ onSaved: @escaping () -> Void) {
        var settings: [ProviderSetting: Variant] = [:]
        if !identifier.text.isEmpty { settings[.clientID] = .string(identifier.text) }
        if !secret.text.isEmpty { settings[.clientSecret] = Secrets.variant(secret.text) }
        save.isSensitive = false
        Task {
            do {
                try await service.client.provider(provider.path).configure(settings)
                dialog.close()
                onSaved()
            } catch {
                save.isSensitive = true
                problem.text = Problem(error).sentence
                problem.isVisible = true
            }
        }
    }
}

enum Secrets {
    /// Returns the read end of a pipe with a secret; nil if it is too long.
    static func variant(_ text: String) -> Variant? {
        let bytes = Array(text.utf8)
        return FileDescriptor.pipe(holding: bytes, bytes.count).map { .fileDescriptor($0) }
    }
}
