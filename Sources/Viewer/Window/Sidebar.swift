internal import BusAPI
internal import DBus
internal import Toolkit

/// The list of accounts, with the sources of the selected one.
final class Sidebar {
    struct Selection: Equatable {
        let account: ObjectPath
        let source: String
    }

    let widget: Box
    let header = HeaderBar()
    private(set) var selection: Selection?
    /// Called when the user selects a source.
    var onSelect: ((Selection, _ title: String) -> Void)?
    /// Called when the title of the selected source may have changed.
    var onTitle: ((_ title: String) -> Void)?
    var onLogIn: (() -> Void)?
    var onProfile: ((ObjectPath) -> Void)?

    private let service: Service
    private let loader: ImageLoader
    private let content = Box(.vertical, spacing: 12)
    /// The sources by account, as last listed.
    private var sources: [ObjectPath: [PhotoSource]] = [:]
    private var tasks: [ObjectPath: Task<Void, Never>] = [:]
    private var avatars: [String: Texture] = [:]
    private var shown: [Account] = []
    private var rows: [(selection: Selection, row: ActionRow)] = []
    private var profileButtons: [ObjectPath: Button] = [:]
    private var likeRows: [ObjectPath: ActionRow] = [:]

    init(_ service: Service, _ loader: ImageLoader) {
        self.service = service
        self.loader = loader
        header.setTitle("Image Feed")
        let scroll = ScrollArea(content)
        scroll.expanding(horizontally: false)
        content.margins(horizontal: 8, vertical: 8)
        widget = Box(.vertical, spacing: 0, header, scroll)
        widget.styled("sidebar-pane")
        widget.setMinimumSize(width: 260)
        let add = Button(icon: "contact-new-symbolic", tooltip: "Log in to another account") {
            [weak self] in
            self?.onLogIn?()
        }
        header.addEnd(add)
        service.changed.observe(self) { [weak self] in self?.update() }
        service.restarted.observe(self) { [weak self] in self?.reloadSources() }
        service.feedSignal.observe(self) { [weak self] signal in
            if signal.member == "Updated" { self?.loadSources(signal.account) }
        }
    }

    /// Marks a source as the selected one; nil for none.
    func select(_ selection: Selection?) {
        self.selection = selection
        for entry in rows { entry.row.setSelected(entry.selection == selection) }
    }

    /// Returns the number of photos of a source as last listed; nil if it is unknown.
    func count(of selection: Selection) -> Int? {
        let source = sources[selection.account]?.first { $0.id == selection.source }
        return source?.count.map { Int($0) }
    }

    /// Returns the title of a source.
    func title(of selection: Selection) -> String {
        if selection.source == "likes" { return "Likes" }
        if selection.source == "memories" { return "Memories" }
        if selection.account == ServiceName.combined { return "All photos" }
        let source = sources[selection.account]?.first { $0.id == selection.source }
        return source?.title ?? "Photos"
    }

    private func update() {
        // A changed like counter alone does not build the list again.
        let accounts = service.accounts
        if accounts.map(identity) == shown.map(identity) {
            for account in accounts {
                likeRows[account.path]?.setTitle("Likes", subtitle: likes(of: account))
            }
            return
        }
        shown = accounts
        for account in service.feeds where sources[account.path] == nil {
            loadSources(account.path)
        }
        rebuild()
    }

    private func identity(_ account: Account) -> [String] {
        [
            account.path.text, account.label, account.avatar, account.hasFeed ? "feed" : "",
            account.name,
            ["needs-login", "logged-out"].contains(account.state) ? account.state : "",
        ]
    }

    private func likes(of account: Account) -> String {
        let pending = account.pendingLikes.count
        let text = Photo.text(ofCount: account.likeCount)
        return pending == 0 ? text : "\(text), \(pending) not confirmed"
    }

    private func reloadSources() {
        for account in service.feeds { loadSources(account.path) }
    }

    private func loadSources(_ account: ObjectPath) {
        tasks[account]?.cancel()
        tasks[account] = Task { [weak self, service] in
            // Without the list, the account shows its default source.
            guard let entries = try? await service.client.account(account).sources(), let self
            else { return }
            let new = entries.compactMap(PhotoSource.init)
            let old = sources[account]
            guard new != old else { return }
            sources[account] = new
            // Rows that remain keep the focus and a click that has begun.
            if let old, new.elementsEqual(old, by: { $0.differsOnlyInCount(from: $1) }) {
                updateCounts(of: account)
            } else {
                rebuild()
            }
            if let selection, selection.account == account { onTitle?(title(of: selection)) }
        }
    }

    private func updateCounts(of account: ObjectPath) {
        guard let account = service.account(account) else { return }
        for source in sources[account.path] ?? [] where source.id != "likes" {
            let selection = Selection(account: account.path, source: source.id)
            let row = rows.first { $0.selection == selection }?.row
            row?.setTitle(title(of: source, in: account), subtitle: source.countText)
        }
    }

    private func title(of source: PhotoSource, in account: Account) -> String {
        account.isCombined && source.id == "all" ? "All photos" : source.title
    }

    private func rebuild() {
        let focusedRow = rows.first { $0.row.hasFocusWithin }?.selection
        let focusedProfile = profileButtons.first { $0.value.hasFocusWithin }?.key
        content.removeAll()
        rows = []
        likeRows = [:]
        profileButtons = [:]
        // The combined account of one account only repeats its sources.
        let isAlone = service.feeds.count { !$0.isCombined } == 1
        for account in service.accounts where !(isAlone && account.isCombined) {
            addSection(account)
        }
        select(selection)
        if let focusedRow { rows.first { $0.selection == focusedRow }?.row.grabFocus() }
        if let focusedProfile { profileButtons[focusedProfile]?.grabFocus() }
    }

    private func addSection(_ account: Account) {
        let list = RowList()
        list.styled("navigation-sidebar")
        if account.isCombined {
            list.setAccessibleName("All accounts")
        } else {
            content.append(accountHeader(account))
            list.setAccessibleName("Sources of \(account.label)")
        }
        guard account.hasFeed else { return }
        let known = sources[account.path] ?? []
        let shown = known.isEmpty ? [] : known
        if !shown.contains(where: { $0.id == account.defaultSource }) {
            add(
                account.isCombined ? "All photos" : "Photos", "", "image-x-generic-symbolic",
                Selection(account: account.path, source: account.defaultSource), list)
        }
        for source in shown {
            let selection = Selection(account: account.path, source: source.id)
            if source.id == "likes" {
                likeRows[account.path] = add(
                    "Likes", likes(of: account), source.icon, selection, list)
            } else {
                let row = add(
                    title(of: source, in: account), source.countText, nil, selection, list)
                addCover(source, account, to: row)
            }
        }
        content.append(list)
    }

    @discardableResult
    private func add(
        _ title: String, _ subtitle: String, _ icon: String?, _ selection: Selection,
        _ list: RowList
    ) -> ActionRow {
        let row = ActionRow(title, subtitle: subtitle)
        if let icon { addIcon(icon, to: row) }
        row.onActivate { [weak self] in
            guard let self else { return }
            select(selection)
            onSelect?(selection, title)
        }
        list.append(row)
        rows.append((selection, row))
        return row
    }

    /// The width of covers and icons, so that the titles are aligned.
    private static let prefixWidth = 32

    private func addIcon(_ name: String, to row: ActionRow) {
        let icon = Icon(name)
        icon.setMinimumSize(width: Self.prefixWidth)
        row.addPrefix(icon)
    }

    /// Shows the cover of an album, or the icon of the source.
    private func addCover(_ source: PhotoSource, _ account: Account, to row: ActionRow) {
        guard let cover = source.shownCover else { return addIcon(source.icon, to: row) }
        let picture = Picture()
        picture.styled("cover")
        // The natural size of a picture is that of its image; an overlay has the size of its first child.
        let place = Box(.horizontal)
        place.setMinimumSize(width: Self.prefixWidth, height: Self.prefixWidth)
        row.addPrefix(Overlay(place, picture).aligned(.center, .center))
        let key = ImageLoader.Key(
            account: account.path, photo: cover, size: "thumb", width: 96, height: 64)
        Task { [loader] in picture.texture = try? await loader.load(key).texture }
    }

    private func accountHeader(_ account: Account) -> Widget {
        let avatar = Avatar(size: 32, name: account.name)
        showAvatar(account, avatar)
        let name = Label(account.label).ellipsizing()
        name.styled("heading").expanding(vertically: false)
        let detail = Label(
            account.state == "logged-out"
                ? "Logged out" : account.server.isEmpty ? providerName(account) : account.server
        ).ellipsizing()
        detail.styled("caption", "dim-label")
        let texts = Box(.vertical, spacing: 0, name, detail)
        texts.expanding(vertically: false).aligned(.fill, .center)
        let path = account.path
        let button = Button(child: Box(.horizontal, spacing: 10, avatar, texts)) { [weak self] in
            self?.onProfile?(path)
        }
        button.styled("flat").setAccessibleName("Profile of \(account.label)")
        profileButtons[path] = button
        return button
    }

    private func providerName(_ account: Account) -> String {
        service.provider(of: account)?.name ?? ""
    }

    private func showAvatar(_ account: Account, _ avatar: Avatar) {
        let path = account.avatar
        guard !path.isEmpty else { return }
        if let texture = avatars[path] { return avatar.setTexture(texture) }
        Task { [weak self, loader] in
            guard let texture = await loader.file(path, size: 96) else { return }
            self?.avatars[path] = texture
            avatar.setTexture(texture)
        }
    }
}
