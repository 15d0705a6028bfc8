internal import Contract
internal import DBus
internal import ProviderKit
internal import Toolkit
internal import Translation

/// The window with the feeds and the photos.
final class MainWindow {
    let window: Window
    /// Called after the window was closed.
    var onClosed: (() -> Void)?

    private let service: Service
    private lazy var sidebar = Sidebar(service, accounts)
    private lazy var feedPage = FeedPage(service, actions, accounts)
    private lazy var leaflet = Leaflet(sidebar.widget, feedPage.widget).expanding()
    private lazy var pages = Stack(["feed": leaflet, "photo": photoPage.widget], isFading: true)
    private let toasts = ToastArea()
    private lazy var backButton = Button(
        icon: "go-previous-symbolic", tooltip: tr("Back to the sources")
    ) { [weak self] in self.map { $0.leaflet.show($0.sidebar.widget) } }
    private lazy var photoPage = PhotoPage(window, service.images, actions)
    private lazy var actions = PhotoActions(window, service, toasts)
    private lazy var accounts = AccountDialogs(window, service, toasts)
    private let menuButton = MenuButton(icon: "open-menu-symbolic", tooltip: tr("Main menu"))
    /// The files to look for in the accounts, until these are known.
    private var filesToFind: [String] = []
    /// The name from the command line, until the accounts are known.
    private var nameToOpen: String?
    /// The account that was logged in, until it is known.
    private var accountToShow: ObjectPath?
    private var state = MainWindowState.load()

    init(_ application: Application, _ service: Service) {
        self.service = service
        window = Window(application, title: "Image Feed", width: state.width, height: state.height)
        if state.isMaximized { window.maximize() }
        toasts.setChild(pages)
        feedPage.grid.scale = state.thumbnails.scale
        window.setContent(toasts)
        window.setMinimumSize(width: 360, height: 300)
        connect()
        updateFold()
        update()
    }

    private func connect() {
        feedPage.header.addStart(backButton)
        sidebar.header.addEnd(menuButton)
        func entry(_ title: String, _ key: String, _ command: Command) -> MenuEntry {
            MenuEntry(title, key: key) { [weak self] in self?.perform(command) }
        }
        menuButton.menu.add([
            // Translators: the verb, an entry of a menu
            entry(tr("Search"), "<Control>f", .search), entry(tr("Slideshow"), "F5", .slideshow),
        ])
        menuButton.menu.add([
            entry(tr("Preferences"), "<Control>comma", .preferences),
            entry(tr("Keyboard shortcuts"), "<Control>question", .shortcuts),
            entry(tr("Help"), "F1", .help), entry(tr("About Image Feed"), "", .about),
        ])
        window.onKey { [weak self] key in
            guard let self, let command = Shortcuts.everywhere.command(key) else { return false }
            perform(command)
            return true
        }
        feedPage.owner = self
        leaflet.onFold { [weak self] in self?.updateFold() }
        sidebar.owner = self
        photoPage.onBack = { [weak self, feedPage] photo in
            self?.pages.visiblePage = "feed"
            // The photo may be one of another feed.
            feedPage.grid.focus(feedPage.feed?.index(of: photo) ?? feedPage.grid.current)
        }
        service.changed.observe(self) { [weak self] in self?.update() }
        actions.likes.failed.observe(self) { [weak self] photo, wantsLike, sentence in
            self?.toasts.show(sentence, button: tr("Try again")) {
                self.map { $0.actions.likes.retry(wantsLike, photo, in: $0.feedPage.feed) }
            }
        }
        actions.likes.stayedLocal.observe(self) { [weak self] account in
            self?.toasts.show(
                tr(
                    "The service does not allow likes to {account}; they stay on this computer.",
                    ["account": account.label]), button: tr("_Log in again")
            ) { self?.accounts.logIn(again: account) }
        }
        accounts.onLogin = { [weak self] account in
            self?.accountToShow = account
            self?.update()
        }
        window.onClose = { [weak self] in self?.keepsOpen() ?? false }
    }

    /// Asks before running downloads are cancelled.
    private func keepsOpen() -> Bool {
        guard actions.downloads.isRunning else {
            closed()
            return false
        }
        window.ask(
            tr("Cancel the download?"),
            body: tr("A download is running. It is cancelled if you close the window."),
            cancel: tr("_Keep open"), confirm: tr("_Cancel download and close")
        ) { [weak self] isConfirmed in
            guard let self, isConfirmed else { return }
            actions.downloads.cancelAll()
            closed()
            window.destroy()
        }
        return true
    }

    private func closed() {
        (state.width, state.height) = window.restoredSize
        state.isMaximized = window.isMaximized
        state.save()
        onClosed?()
    }

    // MARK: Photos

    /// Opens a photo of the grid.
    func open(_ index: Int) {
        guard let feed = feedPage.feed, feed.photos.indices.contains(index) else { return }
        pages.visiblePage = "photo"
        photoPage.show(feed, index)
    }

    /// Performs a command that all pages have.
    func perform(_ command: Command) {
        switch command {
        case .closeWindow: window.close()
        case .menu: menuButton.open()
        case .shortcuts: Shortcuts.showHelp(window)
        case .help:
            Application.open("man:imagefeed(1)", parent: window) { [toasts] in
                toasts.show(tr("No program shows manual pages. Type: man imagefeed"))
            }
        case .about:
            window.showAbout(
                name: "Image Feed", icon: "org.imagefeed.Viewer", version: buildVersion,
                website: homepage, comments: tr("Photos from your disk and from services"))
        case .search:
            photoPage.close()
            leaflet.show(feedPage.widget)
            feedPage.startSearch()
        case .months:
            photoPage.close()
            feedPage.openMonths()
        case .preferences: makePreferences()?.present()
        case .slideshow:
            if photoPage.feed == nil { open(feedPage.grid.current) }
            if photoPage.feed != nil { photoPage.startSlideshow() }
        default: break
        }
    }

    private func makePreferences() -> PreferencesDialog? {
        PreferencesDialog(
            window, service, toasts, state.thumbnails,
            onSize: { [weak self] in
                self?.state.thumbnails = $0
                self?.feedPage.grid.scale = $0.scale
            }, onFolder: { [weak self] in self?.feedPage.feed?.isOutdated = true })
    }

    /// Lets the user choose the folder with the photos, and shows these.
    func chooseFolder() {
        let preferences = makePreferences()
        preferences?.present()
        preferences?.chooseFolder { [weak self, weak preferences] in
            preferences?.close()
            self?.showPhotosOfComputer()
        }
    }

    /// Searches at the service if it offers this, else in the photos of the selected source.
    ///
    /// - Parameter words: The words; nil or empty for all photos.
    func search(_ words: String?) {
        guard let selection = sidebar.selection, let account = service.account(selection.account)
        else { return }
        guard let words, !words.isEmpty else { return show(selection) }
        let hasSearch = service.provider(of: account)?.has("search") == true
        let source = hasSearch ? "search:\(words)" : selection.source
        let base = Feed(service, account: account.path, source: source)
        let feed = hasSearch ? base : Feed(service, searching: base, words)
        feedPage.show(feed, title: words, subtitle: sidebar.title(of: selection))
        feedPage.grid.focus(0)
    }

    // MARK: Files

    /// Shows files, or the first folder.
    func open(files paths: [String]) {
        Task { [weak self, service] in
            guard let result = await service.files(paths) else {
                let problem = tr("{file} contains no image that can be read.", ["file": paths[0]])
                return self?.toasts.show(problem) ?? ()
            }
            guard let self else { return }
            sidebar.select(nil)
            feedPage.show(result.feed, title: result.title, subtitle: "")
            leaflet.show(feedPage.widget)
            if let index = result.index { open(index) } else { photoPage.close() }
            filesToFind = paths.count == 1 ? paths : []
            if service.state == .ready { findFiles() }
        }
    }

    /// Continues in the feed of a local account if the opened file or folder is in the pictures folder.
    private func findFiles() {
        guard let opened = filesToFind.first, let list = feedPage.feed, list.isFileList else {
            return
        }
        filesToFind = []
        let path = photoPage.photo?.id ?? opened
        Task { [weak self, service] in
            guard let (selection, photo) = await service.source(ofFile: path), let self,
                feedPage.feed === list
            else { return }
            show(selection)
            guard let photo, photoPage.feed === list else { return photoPage.close() }
            // The user may have gone on to another photo of the list.
            if photoPage.photo?.id == path { continueInSource(list, photo) }
        }
    }

    /// Shows the photos on this computer, with a user that is registered if necessary.
    func showPhotosOfComputer() {
        guard let provider = service.providers.first(where: { $0.has("register") }) else { return }
        let name = Application.userName
        let isKnown = service.accounts.contains {
            $0.provider == provider.path && $0.username.lowercased() == name.lowercased()
        }
        var options: [LoginOption: Variant] = [.username: .string(name)]
        if !isKnown { options[.register] = .bool(true) }
        toasts.perform { [weak self, service, options] in
            let login = try await service.client.startLogin(provider.id, options)
            self?.accounts.onLogin?(try await service.client.login(login).wait())
        }
    }

    // MARK: Names

    /// Shows a photo or an account that was named in the command line: `ACCOUNT` or `ACCOUNT/PHOTO`.
    func open(_ name: String) {
        guard service.state == .ready else {
            nameToOpen = name
            return
        }
        nameToOpen = nil
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        let label = parts.first ?? name
        guard
            let account = service.accounts.first(where: { $0.id == label || $0.label == label }),
            account.isLoggedIn
        else {
            let problem = tr("There is no account {account} that is logged in.", ["account": label])
            return toasts.show(problem)
        }
        show(Sidebar.Selection(account: account.path, source: account.defaultSource))
        guard parts.count == 2 else { return photoPage.close() }
        toasts.perform { [weak self, service] in
            let photo = try await service.client.account(account.path).photo(parts[1])
            guard let self else { return }
            let feed = Feed(service, account: account.path, photos: [photo])
            pages.visiblePage = "photo"
            photoPage.show(feed, 0)
            continueInSource(feed, photo.id)
        }
    }

    /// Loads the source of a photo that was opened by its name, so that it has a previous and a next photo.
    private func continueInSource(_ single: Feed, _ photo: String) {
        guard let source = feedPage.feed else { return }
        source.loadToEnd(until: photo)
        let shown = photoPage.photo?.id
        let adopt = { [weak self, weak single, weak source] in
            guard let self, let single, let source, photoPage.feed === single,
                photoPage.photo?.id == shown, let index = source.index(of: photo)
            else { return }
            photoPage.adopt(source, index)
        }
        source.changed.observe(single) { _ in adopt() }
        adopt()
    }

    // MARK: Remedies

    func start(_ remedy: Remedy, of path: ObjectPath) {
        switch remedy {
        case .login: accounts.logIn(again: service.account(path))
        case .configure: accounts.configure(service.account(path))
        case .unlock, .installKeyring, .freeSpace, .retry: retry(path)
        }
    }

    /// Loads again what failed. A request for an account also prompts the user to unlock the keyring.
    private func retry(_ path: ObjectPath) {
        guard service.state == .ready, let account = service.account(path) else {
            return service.load()
        }
        feedPage.feed?.loadMore()
        guard !account.isCombined else { return }
        toasts.perform { [weak self, service] in
            try await service.client.account(path).refresh()
            self?.feedPage.feed?.loadMore()
        }
    }

    // MARK: Feeds

    private func updateFold() {
        // Without accounts, there is nothing to choose.
        let hasSidebar = service.state != .ready || !service.accounts.allSatisfy(\.isCombined)
        if hasSidebar != sidebar.widget.isVisible {
            sidebar.widget.isVisible = hasSidebar
            let (old, new) = (sidebar.header, feedPage.header)
            (hasSidebar ? new : old).remove(menuButton)
            (hasSidebar ? old : new).addEnd(menuButton)
        }
        backButton.isVisible = leaflet.isFolded && hasSidebar
        sidebar.header.showsButtons(start: true, end: leaflet.isFolded)
        feedPage.header.showsButtons(start: leaflet.isFolded || !hasSidebar, end: true)
    }

    /// True if the focus belongs to the list of accounts or to an open photo.
    var needsFocus: Bool { sidebar.list.hasFocusWithin || photoPage.feed != nil }

    /// Selects a feed if none is selected, or if the account of the selected one is gone.
    private func update() {
        guard service.state == .ready else { return }
        updateFold()
        if let feed = photoPage.feed, !feed.isFileList,
            service.account(feed.account)?.isLoggedIn != true
        {
            photoPage.close()
        }
        if !filesToFind.isEmpty { findFiles() }
        if feedPage.feed?.isFileList == true, accountToShow == nil { return }
        if let nameToOpen { return open(nameToOpen) }
        if let account = accountToShow.flatMap(service.account), account.isLoggedIn {
            accountToShow = nil
            photoPage.close()
            return show(Sidebar.Selection(account: account.path, source: account.defaultSource))
        }
        if let selection = sidebar.selection, let account = service.account(selection.account),
            account.isLoggedIn || selection.isProfile
        {
            // The photos leave a profile with the logout.
            if !account.isLoggedIn, feedPage.feed?.photos.isEmpty == false { show(selection) }
            return
        }
        let accounts = service.feeds.filter { !$0.isCombined }
        // The combined account, which is the first one, only repeats the photos of a single account.
        let feeds = accounts.count > 1 ? service.feeds : accounts
        if let stored = feeds.first(where: { $0.path.text == state.account }) {
            show(Sidebar.Selection(account: stored.path, source: state.source))
        } else if let account = feeds.first {
            show(Sidebar.Selection(account: account.path, source: account.defaultSource))
        } else {
            sidebar.select(nil)
            feedPage.show(nil, title: "Image Feed", subtitle: "")
            leaflet.show(feedPage.widget)
        }
    }

    /// Shows the default source of an account whose selected source no longer exists.
    func showDefaultSource() {
        guard let selection = sidebar.selection, let account = service.account(selection.account),
            !["", account.defaultSource].contains(selection.source)
        else { return }
        show(Sidebar.Selection(account: account.path, source: account.defaultSource))
    }

    /// Shows the title and the number of photos of the selected source after they were listed again.
    func sourceChanged(_ selection: Sidebar.Selection) {
        guard feedPage.feed?.source == selection.source else { return }
        feedPage.header.setTitle(sidebar.title(of: selection))
        feedPage.feed?.listedCount = sidebar.count(of: selection) ?? 0
    }

    func show(_ selection: Sidebar.Selection) {
        sidebar.select(selection)
        // The next start restores it, also if the window shows an opened file then.
        (state.account, state.source) = (selection.account.text, selection.source)
        let account = service.account(selection.account)
        let source = selection.isProfile ? "likes" : selection.source
        let feed = Feed(service, account: selection.account, source: source)
        feed.listedCount = sidebar.count(of: selection) ?? 0
        feedPage.show(
            feed, title: sidebar.title(of: selection),
            subtitle: account?.isCombined == false ? account?.label ?? "" : "",
            profile: selection.isProfile ? account : nil)
        leaflet.show(feedPage.widget)
    }
}
