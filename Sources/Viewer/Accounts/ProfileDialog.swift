internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// The profile of an account, its name, logout and removal.
final class ProfileDialog: Dialog {
    private let owner: AccountDialogs
    private let account: AccountProperties
    private let client: AccountClient
    private let menuButton = MenuButton(icon: "view-more-symbolic", tooltip: tr("More actions"))

    init(_ owner: AccountDialogs, _ account: AccountProperties) {
        self.owner = owner
        self.account = account
        client = owner.service.client.account(account.path)
        super.init(owner.window, title: tr("Profile"), height: 560)
        let avatar = Avatar(account, size: 96, owner.service.images)
        let name = Label(account.shownName).wrapping(atStart: false)
        let identity = Label(account.identity).wrapping(atStart: false)
        content.append(
            Box(
                .vertical, spacing: 6, avatar.aligned(.center, .start), name.styled("title-2"),
                identity.styled("dim-label")))
        addFacts()
        let label = EntryRow(tr("Label"))
        label.text = account.label
        label.onApply { [client, owner, unowned label] in
            let text = label.text
            owner.toasts.perform { try await client.setLabel(text) }
        }
        content.append(RowGroup("", label))
        addActions()
    }

    private func addFacts() {
        if !account.bio.isEmpty {
            content.append(Label(account.bio).wrapping().selectable())
        }
        content.add(fact: tr("Place"), account.location)
        content.add(fact: tr("Link"), account.url, link: account.url)
        content.add(fact: tr("Service"), owner.service.provider(of: account)?.shownName ?? "")
        let likes = account.isLoggedIn ? Photo.text(ofCount: account.likeCount) : ""
        content.add(fact: tr("Likes"), likes)
        content.add(fact: tr("State"), account.stateReason)
    }

    private func addActions() {
        let actions = Box(.vertical, spacing: 12)
        if account.isLoggedIn {
            actions.append(Button(tr("_Log out")) { [weak self] in self?.confirmLogout() })
        }
        if !account.isLoggedIn || account.state == .needsLogin {
            actions.append(
                Button(tr("_Log in again")) { [weak self, owner, account] in
                    self?.close()
                    owner.logIn(again: account)
                })
        }
        let isUser = owner.service.provider(of: account)?.has("register") == true
        content.append(actions)
        let removal = isUser ? tr("Delete user") : tr("Remove account")
        menuButton.menu.add([
            MenuEntry(removal) { [weak self] in self?.confirmRemoval(isUser) }
        ])
        header.addEnd(menuButton)
    }

    /// The sentence about likes that a logout drops, after a space; empty if there are none.
    private var lostLikes: String {
        let count = owner.service.account(account.path)?.pendingLikes.count ?? 0
        let sentence = trn(
            "One like that was not sent yet is lost.",
            "{count} likes that were not sent yet are lost.", count)
        return count == 0 ? "" : " \(sentence)"
    }

    private func confirmLogout() {
        confirm(
            tr("Log out of {account}?", ["account": account.label]),
            tr("The account remains known, so that you can log in again.") + lostLikes,
            tr("_Log out")
        ) {
            try await $0.logout()
            return nil
        }
    }

    private func confirmRemoval(_ isUser: Bool) {
        // Translators: in place of a name in “Photos and likes at {service} are not touched.”
        let name = owner.service.provider(of: account)?.shownName ?? tr("the service")
        confirm(
            isUser
                ? tr("Delete the user {account}?", ["account": account.label])
                : tr("Remove {account}?", ["account": account.label]),
            isUser
                ? tr(
                    "The account and its likes on this computer are deleted. Photos on disk are not touched."
                )
                : tr(
                    "The account and its data on this computer are deleted. Photos and likes at {service} are not touched.",
                    ["service": name]) + lostLikes,
            isUser ? tr("_Delete") : tr("_Remove")
        ) { try await $0.remove() }
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
        _ action: @escaping (AccountClient) async throws -> String?
    ) {
        window.ask(heading, body: body, cancel: tr("_Cancel"), confirm: title) {
            [weak self] isConfirmed in
            guard let self, isConfirmed else { return }
            close()
            owner.toasts.perform { [client, owner] in
                if let message = try await action(client) { owner.toasts.show(message) }
            }
        }
    }
}
