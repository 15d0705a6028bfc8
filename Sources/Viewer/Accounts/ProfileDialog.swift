internal import BusAPI
internal import DBus
internal import Toolkit

/// The profile of an account, its name, logout and removal.
final class ProfileDialog {
    var onLogIn: ((Account) -> Void)?
    var onMessage: ((String) -> Void)?

    private let dialog: Dialog
    private let service: Service
    private let loader: ImageLoader
    private let path: ObjectPath
    private let account: Account

    init(_ parent: Window, _ service: Service, _ loader: ImageLoader, _ account: Account) {
        self.service = service
        self.loader = loader
        self.account = account
        path = account.path
        dialog = Dialog(parent, title: "Profile", height: 560)
    }

    func present() {
        addHead()
        addFacts()
        let label = EntryRow("Label")
        label.text = account.label
        label.onApply { [self] in rename(label.text) }
        dialog.content.append(RowGroup("", label))
        addActions()
        dialog.onClosed = { [self] in _ = path }
        dialog.present()
    }

    private func addHead() {
        let avatar = Avatar(size: 96, name: account.name)
        avatar.aligned(.center, .start)
        if !account.avatar.isEmpty {
            Task { [loader, account] in
                avatar.setTexture(await loader.file(account.avatar, size: 256))
            }
        }
        let name = Label(account.name).wrapping(atStart: false)
        let identity = Label(account.identity).wrapping(atStart: false)
        dialog.content.append(
            Box(.vertical, spacing: 6, avatar, name.styled("title-2"), identity.styled("dim-label"))
        )
    }

    private func addFacts() {
        if !account.bio.isEmpty {
            dialog.content.append(Label(account.bio).wrapping().selectable())
        }
        if !account.location.isEmpty {
            add("Place", Label(account.location).wrapping().selectable())
        }
        if !account.url.isEmpty {
            let link = Label().wrapping()
            link.setLink(account.url, title: account.url)
            add("Link", link)
        }
        if let provider = service.provider(of: account) {
            add("Service", Label(provider.name).wrapping())
        }
        if account.hasFeed {
            add("Likes", Label(Photo.text(ofCount: account.likeCount)).wrapping())
        }
        if !account.stateReason.isEmpty { add("State", Label(account.stateReason).wrapping()) }
    }

    private func add(_ title: String, _ value: Label) {
        dialog.content.append(Box(fact: title, value))
    }

    private func addActions() {
        let actions = Box(.vertical, spacing: 12)
        if account.hasFeed {
            actions.append(Button("_Log out") { [self] in confirmLogout() })
        }
        if !account.hasFeed || account.state == "needs-login" {
            actions.append(
                Button("_Log in again") { [self] in
                    dialog.close()
                    onLogIn?(account)
                })
        }
        let isUser = service.provider(of: account)?.has("register") == true
        actions.append(
            Button(isUser ? "_Delete user" : "_Remove account") { [self] in confirmRemoval(isUser) }
                .styled("destructive-action"))
        dialog.content.append(actions)
    }

    private func rename(_ label: String) {
        Task {
            do {
                try await service.client.account(path).setLabel(label)
            } catch {
                onMessage?(Problem(error).sentence)
            }
        }
    }

    /// The sentence about likes that a logout drops, after a space; empty if there are none.
    private var lostLikes: String {
        switch service.account(path)?.pendingLikes.count ?? 0 {
        case 0: ""
        case 1: " One like that was not sent yet is lost."
        case let count: " \(count) likes that were not sent yet are lost."
        }
    }

    private func confirmLogout() {
        confirm(
            "Log out of \(account.label)?",
            "The account remains known, so that you can log in again.\(lostLikes)",
            "_Log out"
        ) { [service, path] in
            try await service.client.account(path).logout()
            return nil
        }
    }

    private func confirmRemoval(_ isUser: Bool) {
        let name = service.provider(of: account)?.name ?? "the service"
        confirm(
            isUser ? "Delete the user \(account.label)?" : "Remove \(account.label)?",
            isUser
                ? "The account and its likes on this computer are deleted. Photos on disk are not touched."
                : "The account and its data on this computer are deleted. Photos and likes at \(name) are not touched.\(lostLikes)",
            isUser ? "_Delete" : "_Remove"
        ) { [service, path] in try await service.client.account(path).remove() }
    }

    /// Asks before an action.
    ///
    /// - Parameters:
    ///   - heading: The question.
    ///   - body: The consequences.
    ///   - title: The title of the button.
    ///   - action: Returns a sentence for the user, if any.
    private func confirm(
        _ heading: String, _ body: String, _ title: String,
        _ action: @escaping () async throws -> String?
    ) {
        let question = MessageDialog(dialog.window, heading: heading, body: body)
        question.add("cancel", "_Cancel")
        question.add("confirm", title, .destructive)
        question.present(standard: "cancel", cancel: "cancel") { [self] response in
            guard response == "confirm" else { return }
            dialog.close()
            Task { [onMessage] in
                do {
                    if let message = try await action() { onMessage?(message) }
                } catch {
                    onMessage?(Problem(error).sentence)
                }
            }
        }
    }
}
