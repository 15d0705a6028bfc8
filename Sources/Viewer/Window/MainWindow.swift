internal import BusAPI
internal import DBus
internal import Toolkit

/// The window with the feeds and the photos.
final class MainWindow {
    let window: Window
    /// Called after the window was closed.
    var onClosed: (() -> Void)?

    private let service: Service
    private let loader: ImageLoader
    private let likes: Likes
    private let sidebar: Sidebar
    private let feedPage: FeedPage
    private let leaflet = Leaflet()
    private let pages = Stack()
    private let toasts: ToastArea
    private let backButton: Button
    private let photoPage: PhotoPage
    private let accounts: AccountDialogs
    /// The name from the command line, until the accounts are known.
    private var nameToOpen: String?

    init(_ application: Application, _ service: Service) {
        self.service = service
        loader = ImageLoader(service)
        likes = Likes(service)
        window = Window(application, title: "Image Feed", width: 1100, height: 760)
        sidebar = Sidebar(service, loader)
        feedPage = FeedPage(service, loader)
        backButton = Button(icon: "go-previous-symbolic", tooltip: "Back to the sources")
        leaflet.add(sidebar.widget)
        leaflet.add(feedPage.widget)
        leaflet.expanding()
        photoPage = PhotoPage(window, service, loader)
        accounts = AccountDialogs(window, service, loader)
        pages.add(leaflet, "feed")
        pages.add(photoPage.widget, "photo")
        toasts = ToastArea(pages)
        window.setContent(toasts)
        window.setMinimum(width: 360, height: 300)
        connect()
        updateFold()
        update()
    }

    private func connect() {
        feedPage.header.addStart(backButton)
        backButton.onClick { [weak self] in
            guard let self else { return }
            leaflet.show(sidebar.widget)
        }
        leaflet.onFold { [weak self] in self?.updateFold() }
        sidebar.onSelect = { [weak self] in self?.show($0, title: $1) }
        sidebar.onTitle = { [weak self] in self?.feedPage.setTitle($0) }
        sidebar.onLogIn = { [weak self] in self?.accounts.chooseProvider() }
        sidebar.onProfile = { [weak self] in self?.accounts.showProfile($0) }
        feedPage.onRemedy = { [weak self] in self?.start($1, of: $0) }
        accounts.onMessage = { [weak self] in self?.toasts.show($0) }
        feedPage.grid.onLike = { [weak self] in self?.toggleLike($0) }
        feedPage.grid.onOpen = { [weak self] in self?.open($0) }
        photoPage.onBack = { [weak self] in self?.closePhoto($0) }
        photoPage.onLike = { [weak self] in self?.likes.toggle($0, in: $1) }
        service.changed.observe(self) { [weak self] in self?.update() }
        likes.failed.observe(self) { [weak self] in self?.showFailure($0) }
        window.onClose = { [weak self] in self?.keepsOpen() ?? false }
    }

    /// Asks before running downloads are cancelled.
    private func keepsOpen() -> Bool {
        guard photoPage.hasDownloads else {
            onClosed?()
            return false
        }
        let dialog = MessageDialog(
            window, heading: "Cancel the download?",
            body: "A download is running. It is cancelled if you close the window.")
        dialog.add("stay", "_Keep open")
        dialog.add("close", "_Cancel download and close", .destructive)
        dialog.present(standard: "stay", cancel: "stay") { [weak self] response in
            guard let self, response == "close" else { return }
            photoPage.cancelDownloads()
            onClosed?()
            window.destroy()
        }
        return true
    }

    // MARK: Photos

    private func open(_ index: Int) {
        guard let feed = feedPage.feed, feed.photos.indices.contains(index) else { return }
        pages.visiblePage = "photo"
        photoPage.show(feed, index)
    }

    private func closePhoto(_ index: Int) {
        pages.visiblePage = "feed"
        feedPage.grid.focus(index)
    }

    /// Shows a photo or an account that was named in the command line: `ACCOUNT` or `ACCOUNT/PHOTO`.
    func open(_ name: String) {
        guard service.state == .ready else {
            nameToOpen = name
            return
        }
        nameToOpen = nil
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        guard
            let account = service.accounts.first(where: {
                $0.id == parts.first || $0.label == parts.first
            }),
            account.hasFeed
        else {
            toasts.show("There is no account \(parts.first ?? name) that is logged in.")
            return
        }
        let selection = Sidebar.Selection(account: account.path, source: account.defaultSource)
        sidebar.select(selection)
        show(selection, title: sidebar.title(of: selection))
        guard parts.count == 2 else { return photoPage.close() }
        Task { [weak self, service] in
            do {
                let entries = try await service.client.account(account.path).photo(parts[1])
                guard let self, let photo = Photo(entries) else { return }
                let feed = Feed(service, account: account.path, photo: photo)
                pages.visiblePage = "photo"
                photoPage.show(feed, 0)
            } catch {
                self?.toasts.show(Problem(error).sentence)
            }
        }
    }

    // MARK: Remedies

    private func start(_ remedy: Remedy, of path: ObjectPath) {
        switch remedy {
        case .login:
            if let account = service.account(path), !account.isCombined {
                accounts.logIn(again: account)
            } else {
                accounts.chooseProvider()
            }
        case .configure:
            if let account = service.account(path), let provider = service.provider(of: account) {
                accounts.configure(provider)
            } else {
                accounts.chooseProvider()
            }
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
        Task { [weak self, service] in
            do {
                try await service.client.account(path).refresh()
                self?.feedPage.feed?.loadMore()
            } catch {
                self?.toasts.show(Problem(error).sentence)
            }
        }
    }

    // MARK: Feeds

    private func updateFold() {
        backButton.isVisible = leaflet.isFolded
        sidebar.header.showsButtons(start: true, end: leaflet.isFolded)
        feedPage.header.showsButtons(start: leaflet.isFolded, end: true)
    }

    /// Selects a feed if none is selected, or if the account of the selected one is gone.
    private func update() {
        guard service.state == .ready else { return }
        if let nameToOpen { return open(nameToOpen) }
        if let selection = sidebar.selection, service.account(selection.account)?.hasFeed == true {
            return
        }
        let account =
            service.feeds.first { $0.isCombined } ?? service.feeds.first {
                $0.path == service.defaultAccount
            }
            ?? service.feeds.first
        if let account {
            let selection = Sidebar.Selection(account: account.path, source: account.defaultSource)
            sidebar.select(selection)
            show(selection, title: sidebar.title(of: selection))
        } else {
            sidebar.select(nil)
            feedPage.show(nil, title: "Image Feed", subtitle: "")
        }
    }

    private func show(_ selection: Sidebar.Selection, title: String) {
        let account = service.account(selection.account)
        let feed = Feed(service, account: selection.account, source: selection.source)
        feedPage.show(
            feed, title: title, subtitle: account?.isCombined == false ? account?.label ?? "" : "")
        leaflet.show(feedPage.widget)
    }

    private func toggleLike(_ index: Int) {
        guard let feed = feedPage.feed, feed.photos.indices.contains(index) else { return }
        likes.toggle(feed.photos[index].id, in: feed)
    }

    private func showFailure(_ failure: Likes.Failure) {
        toasts.show(failure.sentence, button: "Try again") { [weak self] in
            guard let self else { return }
            likes.retry(failure, in: feedPage.feed)
        }
    }
}
