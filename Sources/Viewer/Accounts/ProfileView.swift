internal import Contract
internal import System
internal import Toolkit
internal import Translation

/// The profile of an account above the photos that its user likes, with the actions for the account.
final class ProfileView {
    let widget = Box(.vertical, spacing: 6)
    let menuButton = MenuButton(icon: "view-more-symbolic", tooltip: tr("More actions"))
    /// The reason why there are no photos below; empty if there are any.
    let reason = Label().wrapping().margins(horizontal: 12, vertical: 0)
    /// The account that is shown; nil for none.
    private(set) var account: AccountProperties?

    private let owner: AccountDialogs
    private let facts = Box(.vertical, spacing: 12)
    private let label = EntryRow(tr("Label"))
    private let likes = Label().wrapping().styled("dim-label")
    private lazy var likesBox = Box(
        .vertical, spacing: 2,
        Label(tr("Likes"), isHeading: true).wrapping().styled("title-4"), likes)

    init(_ owner: AccountDialogs) {
        self.owner = owner
        let content = Box(.vertical, spacing: 18, facts, RowGroup("", label)).margins(18)
        widget.append(
            content.clamped(to: 560), likesBox.margins(horizontal: 12, vertical: 0), reason)
        label.onApply { [weak self] text in
            guard let self, let client else { return }
            owner.toasts.perform { try await client.setLabel(text) }
        }
        show(nil)
    }

    private var client: AccountClient? { (account?.path).map(owner.service.client.account) }
    private var provider: ProviderProperties? { account.flatMap(owner.service.provider) }

    /// Shows an account, or hides the profile.
    func show(_ new: AccountProperties?) {
        let old = account
        account = new
        widget.isVisible = new != nil
        menuButton.isVisible = new != nil
        guard let new, new != old else { return }
        likesBox.isVisible = new.hasLikes
        likes.text = new.likesText
        // A text that the user is changing remains.
        if new.path != old?.path || new.label != old?.label { label.text = new.label }
        showFacts(new)
        addActions(new)
    }

    private func showFacts(_ account: AccountProperties) {
        facts.removeAll()
        let avatar = Avatar(account, size: 96, owner.service.images).aligned(.center, .start)
        let name = Label(account.shownName, isHeading: true).wrapping(atStart: false)
        facts.append(avatar, name.styled("title-2"))
        if account.identity != account.shownName {
            facts.append(Label(account.identity).wrapping(atStart: false).styled("dim-label"))
        }
        if !account.bio.isEmpty { facts.append(Label(account.bio).wrapping().selectable()) }
        facts.add(fact: tr("Place"), account.location)
        facts.add(fact: tr("Link"), account.url, link: account.url)
        facts.add(fact: tr("Service"), provider?.shownName ?? "")
        facts.add(fact: tr("State"), account.notices.joined(separator: " "))
        if account.isLoggedIn { return }
        facts.append(
            Button(pill: tr("_Log in again"), isSuggested: true) { [weak owner] in
                owner?.logIn(again: account)
            })
    }

    // MARK: Actions

    private func addActions(_ account: AccountProperties) {
        let isUser = provider?.has("register") == true
        var entries: [MenuEntry] = []
        func add(
            _ title: String, if isOffered: Bool = true,
            _ action: @escaping @MainActor (ProfileView) -> Void
        ) {
            if isOffered { entries.append(MenuEntry(title) { [weak self] in self.map(action) }) }
        }
        add(tr("Log in again…"), if: !isUser) { $0.owner.logIn(again: account) }
        let hasAvatar = account.isLoggedIn && provider?.has("avatar") == true
        add(tr("Change the avatar…"), if: hasAvatar) { $0.chooseAvatar() }
        add(tr("Log out…"), if: account.isLoggedIn) { $0.confirmLogout(account) }
        add(isUser ? tr("Delete user…") : tr("Remove account…")) {
            $0.confirmRemoval(account, isUser)
        }
        menuButton.menu.removeAll()
        menuButton.menu.add(entries)
    }

    /// Lets the user choose a photo of the pictures folder, of which the middle becomes the avatar.
    private func chooseAvatar() {
        let folder = Downloads.folder.text
        owner.window.choosePath(title: tr("Photo for the avatar"), folder: folder) {
            [owner, client] path in
            owner.toasts.perform {
                guard case let (selection, photo?)? = await owner.service.source(ofFile: path)
                else {
                    let problem = tr("{file} is not one of your photos.", ["file": path])
                    return owner.toasts.show(problem)
                }
                let reference = PhotoReference(photo, in: selection.account)
                try await client?.setAvatar(reference.combinedID)
            }
        }
    }

    /// The sentence about likes that a logout drops, after a space; empty if there are none.
    private var lostLikes: String {
        let count = account?.pendingLikes.count ?? 0
        let sentence = trn(
            "One like that was not sent yet is lost.",
            "{count} likes that were not sent yet are lost.", count)
        return count == 0 ? "" : " \(sentence)"
    }

    private func confirmLogout(_ account: AccountProperties) {
        confirm(
            tr("Log out of {account}?", ["account": account.label]),
            tr("The account remains known, so that you can log in again.") + lostLikes,
            tr("_Log out")
        ) {
            try await $0.logout()
            return nil
        }
    }

    private func confirmRemoval(_ account: AccountProperties, _ isUser: Bool) {
        // Translators: in place of a name in “Photos and likes at {service} are not touched.”
        let name = provider?.shownName ?? tr("the service")
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
        owner.window.ask(heading, body: body, cancel: tr("_Cancel"), confirm: title) {
            [owner, client] isConfirmed in
            guard let client, isConfirmed else { return }
            owner.toasts.perform {
                if let message = try await action(client) { owner.toasts.show(message) }
            }
        }
    }
}
