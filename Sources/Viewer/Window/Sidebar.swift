internal import Contract
internal import DBus
internal import ProviderKit
internal import Toolkit
internal import Translation

/// The list of accounts, with the sources of the selected one.
final class Sidebar {
    struct Selection: Equatable {
        let account: ObjectPath
        /// The ID of a source; empty for the profile.
        let source: String
        var isProfile: Bool { source.isEmpty }
    }

    private(set) lazy var widget = Box(
        .vertical, header, ScrollArea(list).expanding(horizontally: false)
    ).styled("sidebar-pane")
    let header = HeaderBar()
    private(set) var selection: Selection?
    /// Shows the selected source.
    weak var owner: MainWindow?

    private let service: Service
    private let accounts: AccountDialogs
    let list = RowList().styled("navigation-sidebar")
    /// The sources by account, as last listed.
    private var sources: [ObjectPath: [Source]] = [:]
    private var tasks: [ObjectPath: Task<Void, Never>] = [:]
    /// The facts of the list whose change builds it again.
    private var shown: [[String]] = []
    /// The accounts whose sources are hidden.
    private var folded: Set<ObjectPath> = []
    /// The rows of sources with their counts, and those of accounts.
    private var rows: [(selection: Selection, row: ActionRow, count: Label)] = []

    init(_ service: Service, _ accounts: AccountDialogs) {
        self.service = service
        self.accounts = accounts
        header.setTitle("Image Feed")
        list.setAccessibleName(tr("Accounts"))
        widget.setMinimumSize(width: 260)
        header.addEnd(
            Button(icon: "contact-new-symbolic", tooltip: tr("Log in to another account")) {
                [weak accounts] in accounts?.chooseProvider()
            })
        service.changed.observe(self) { [weak self] in self?.update() }
        service.restarted.observe(self) { [weak self] in self?.reloadSources() }
        service.event.observe(self) { [weak self] account, event in
            switch event {
            case .updated, .photosRemoved: self?.loadSources(account)
            default: break
            }
        }
    }

    /// Marks a source as the selected one; nil for none.
    func select(_ selection: Selection?) {
        self.selection = selection
        for row in rows { row.row.setSelected(row.selection == selection) }
    }

    private func source(_ selection: Selection) -> Source? {
        sources[selection.account]?.first { $0.id.text == selection.source }
    }

    /// Returns the number of photos of a source as last listed; nil if it is unknown.
    func count(of selection: Selection) -> Int? { source(selection)?.count.map { Int($0) } }

    /// Returns the title of a source.
    func title(of selection: Selection) -> String {
        if selection.isProfile { return tr("Profile") }
        if selection.source == "likes" { return tr("Likes") }
        if selection.source == "memories" { return tr("Memories") }
        if selection.account == ServiceName.combined { return tr("All photos") }
        return source(selection)?.title.translated ?? tr("Photos")
    }

    private func update() {
        let new = service.accounts.map { facts($0) }
        // Rows that remain keep the focus and a click that has begun.
        if new == shown {
            for index in rows.indices { refresh(index) }
        } else {
            shown = new
            for account in service.feeds where sources[account.path] == nil {
                loadSources(account.path)
            }
            rebuild()
        }
    }

    private func facts(_ account: AccountProperties) -> [String] {
        let isOut = [.needsLogin, .loggedOut].contains(account.state)
        let sources = sources[account.path] ?? []
        return [
            account.path.text, account.label, account.avatar, account.isLoggedIn ? "feed" : "",
            account.name, isOut ? account.stateText : "",
        ]
            + sources.flatMap {
                [$0.id.text, $0.title.english, $0.kind.rawValue, $0.shownCover ?? ""]
            }
    }

    /// The number of photos of a source, with the likes that are not confirmed; empty if it is unknown.
    private func subtitle(of selection: Selection) -> String {
        let account = selection.source == "likes" ? service.account(selection.account) : nil
        return account?.likesText ?? count(of: selection).map(Photo.text(ofCount:)) ?? ""
    }

    private func reloadSources() { for account in service.feeds { loadSources(account.path) } }

    private func loadSources(_ account: ObjectPath) {
        tasks[account]?.cancel()
        tasks[account] = Task { [weak self, service] in
            // Without the list, the account shows its default source.
            guard let new = try? await service.client.account(account).sources(), let self
            else { return }
            guard new != sources[account] else { return }
            sources[account] = new
            update()
            if let selection, selection.account == account { owner?.sourceChanged(selection) }
        }
    }

    private func rebuild() {
        let focused = rows.first { $0.row.hasFocusWithin }?.selection
        list.removeAll()
        rows = []
        // The combined account of one account only repeats its sources.
        let isAlone = service.feeds.count { !$0.isCombined } == 1
        for account in service.accounts where !(isAlone && account.isCombined) {
            if !account.isCombined { addHeader(account) }
            guard account.isLoggedIn, !folded.contains(account.path) else { continue }
            add(account, isAlone: isAlone)
        }
        select(selection)
        if let focused { rows.first { $0.selection == focused }?.row.grabFocus() }
    }

    private func add(_ account: AccountProperties, isAlone: Bool) {
        var sources = sources[account.path] ?? []
        // The combined account has those of all accounts.
        if !isAlone, !account.isCombined {
            sources.removeAll { ["likes", "memories"].contains($0.id.text) }
        }
        if !sources.contains(where: { $0.id.text == account.defaultSource }) {
            addIcon("image-x-generic-symbolic", to: add(account, account.defaultSource))
        }
        for source in sources { addCover(source, account, to: add(account, source.id.text)) }
    }

    private func add(_ account: AccountProperties, _ source: String) -> ActionRow {
        let selection = Selection(account: account.path, source: source)
        let row = ActionRow("")
        let count = Label().styled("dim-label", "caption")
        row.addSuffix(count)
        row.onActivate { [weak self] in self?.owner?.show(selection) }
        list.append(row)
        rows.append((selection, row, count))
        refresh(rows.count - 1)
        return row
    }

    /// Shows the title and the number of photos of a source.
    private func refresh(_ index: Int) {
        let (selection, row, count) = rows[index]
        if selection.isProfile { return }
        let (title, photos) = (title(of: selection), subtitle(of: selection))
        let account = service.account(selection.account)
        let isLikes = selection.source == "likes"
        let isPending = isLikes && account?.pendingLikes.isEmpty == false
        row.setTitle(title, subtitle: isPending ? photos : "")
        row.setAccessibleName(photos.isEmpty ? title : "\(title), \(photos)")
        let number = isLikes ? account.map { Int($0.likeCount) } : self.count(of: selection)
        count.text = number.map(text(ofNumber:)) ?? ""
    }

    /// The width of covers and icons, so that the titles are aligned.
    private static let prefixWidth = 32

    private func addIcon(_ name: String, to row: ActionRow) {
        let icon = Icon(name)
        icon.setMinimumSize(width: Self.prefixWidth)
        row.addPrefix(icon)
    }

    /// Shows the cover of an album, or the icon of the source.
    private func addCover(_ source: Source, _ account: AccountProperties, to row: ActionRow) {
        guard let cover = source.shownCover else { return addIcon(source.icon, to: row) }
        let picture = Picture().styled("cover")
        // The natural size of a picture is that of its image; an overlay has the size of its first child.
        let place = Box(.horizontal)
        place.setMinimumSize(width: Self.prefixWidth, height: Self.prefixWidth)
        row.addPrefix(place.overlaid(with: picture).aligned(.center, .center))
        let key = ImageLoader.Key(
            account: account.path, photo: cover, size: "thumb", width: 96, height: 64)
        Task { [service] in picture.setTexture(try? await service.images.load(key).texture) }
    }

    private func addHeader(_ account: AccountProperties) {
        let provider = service.provider(of: account)?.shownName ?? ""
        let detail =
            account.state == .loggedOut
            ? tr("Logged out") : account.server.isEmpty ? provider : account.server
        let row = ActionRow(account.label, subtitle: detail)
        row.addPrefix(Avatar(account, size: 32, service.images))
        let path = account.path
        let selection = Selection(account: path, source: "")
        let title = tr("Profile of {account}", ["account": account.label])
        let profile = Button(icon: "view-more-symbolic", tooltip: title) { [weak self] in
            self?.owner?.show(selection)
        }
        row.addSuffix(profile.styled("flat").aligned(.end, .center))
        if account.isLoggedIn {
            row.addSuffix(Icon(folded.contains(path) ? "pan-end-symbolic" : "pan-down-symbolic"))
        }
        row.onActivate { [weak self] in
            guard let self else { return }
            guard account.isLoggedIn else { return owner?.show(selection) ?? () }
            folded.formSymmetricDifference([path])
            // GTK still uses the row.
            Task { self.rebuild() }
        }
        list.append(row)
        rows.append((selection, row, Label()))
    }
}
