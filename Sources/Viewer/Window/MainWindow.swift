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
        pages.add(leaflet, "feed")
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
        feedPage.grid.onLike = { [weak self] in self?.toggleLike($0) }
        service.changed.observe(self) { [weak self] in self?.update() }
        likes.failed.observe(self) { [weak self] in self?.showFailure($0) }
        window.onClose = { [weak self] in
            self?.onClosed?()
            return false
        }
    }

    private func updateFold() {
        backButton.isVisible = leaflet.isFolded
        sidebar.header.showsButtons(start: true, end: leaflet.isFolded)
        feedPage.header.showsButtons(start: leaflet.isFolded, end: true)
    }

    /// Selects a feed if none is selected, or if the account of the selected one is gone.
    private func update() {
        guard service.state == .ready else { return }
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
            show(selection, title: account.isCombined ? "All photos" : sidebar.title(of: selection))
        } else {
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
        toasts.show(failure.sentence, button: "_Try again") { [weak self] in
            guard let self, let feed = feedPage.feed, feed.account == failure.account else {
                return
            }
            likes.set(failure.wantsLike, failure.photo, in: feed)
        }
    }
}
