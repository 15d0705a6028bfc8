internal import Contract
internal import DBus
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// The page of one feed: the grid, or the reason why there are no photos.
final class FeedPage {
    let widget = Box(.vertical).expanding()
    let header = HeaderBar()
    let grid: FeedGrid
    /// The account above the photos that its user likes.
    let profile: ProfileView
    private(set) var feed: Feed?
    /// Opens photos, searches, starts remedies and shows other sources.
    weak var owner: MainWindow?

    private let service: Service
    private let actions: PhotoActions
    private lazy var stack = Stack([
        "loading": loading, "status": status,
        "photos": grid.widget.overlaid(with: newPhotosRevealer, tail, monthLabel),
    ]).expanding()
    private let status = StatusPage()
    private let statusButton = Button(pill: tr("_Try again"), isSuggested: true)
    private let logInButton = Button(pill: tr("_Log in")).aligned(.fill, .start)
    private let localButton = Button(
        pill: tr("_Show the photos on this computer"), isSuggested: true
    ).aligned(.fill, .start)
    private let folderButton = Button(pill: tr("_Choose another folder…")).aligned(.fill, .start)
    private lazy var welcomeButtons = Box(
        .vertical, spacing: 12, localButton, folderButton, logInButton
    ).aligned(.center, .center)
    private let loading = Spinner(size: 48).aligned(.center, .center)
    private let newPhotos = Button("").styled("pill", "suggested-action", "osd")
    private lazy var newPhotosRevealer = Revealer(newPhotos).aligned(.center, .start).margins(12)
    private let bannerLabel = Label().wrapping().expanding(vertically: false)
    private let bannerButton = Button(tr("_Try again"))
    private let bannerRevealer: Revealer
    private let search = SearchField(tr("Search photos"))
    private let searchRevealer: Revealer
    private let searchButton = Button(icon: "system-search-symbolic", tooltip: tr("Search"))
    private let selectionLabel = Label().ellipsizing().expanding(vertically: false)
    private let selectionButtons = Box(.horizontal, spacing: 6)
    private let selectionBar: Revealer
    private let tail = Spinner(size: 24).aligned(.center, .end).margins(12)
    /// The month of the visible part, shown beside the scroll bar while that moves.
    private let monthLabel = Label().styled("osd", "month-label").aligned(.end, .start).margins(18)
    private lazy var monthTimer = MainLoopTimer { [weak self] in self?.monthLabel.isVisible = false
    }
    private let monthButton = MenuButton(
        icon: "x-office-calendar-symbolic", tooltip: tr("Go to a month"))
    /// The number of loaded months in the menu; nil once it also has those that are not loaded.
    private var listedCount: Int? = 0
    /// The month that is shown as soon as it is loaded.
    private var wantedMonth: Int?
    private var remedy: (ObjectPath, Remedy)?

    init(_ service: Service, _ actions: PhotoActions, _ accounts: AccountDialogs) {
        self.service = service
        self.actions = actions
        profile = ProfileView(accounts)
        grid = FeedGrid(service.images, actions, top: profile.widget)
        tail.setTargetable(false)
        tail.isVisible = false
        let banner = Box(.horizontal, spacing: 12, bannerLabel, bannerButton.aligned(.end, .center))
        bannerRevealer = Revealer(banner.styled("feed-banner"))
        let searchBox = Box(.vertical, spacing: 0, search.clamped(to: 480))
        searchRevealer = Revealer(searchBox.margins(horizontal: 12, vertical: 6))
        let selection = Box(.horizontal, spacing: 6, selectionLabel, selectionButtons)
        selectionBar = Revealer(selection.styled("toolbar", "feed-selection"))
        selectionBar.setAccessibleName(tr("Selected photos"))
        monthLabel.setTargetable(false)
        monthLabel.isVisible = false
        widget.append(header, searchRevealer, bannerRevealer, stack, selectionBar)
        header.addEnd(profile.menuButton, searchButton, monthButton)
        searchButton.onClick { [weak self] in self?.startSearch() }
        monthButton.isVisible = false
        monthButton.onOpen = { [weak self] menu in
            guard let self else { return }
            menu.removeAll()
            listedCount = 0
            feed?.loadToEnd()
            listMonths()
        }
        grid.feedPage = self
        search.onSubmit { [weak self] in self?.owner?.search($0) }
        search.onStop { [weak self] in self?.endSearch() }
        localButton.onClick { [weak self] in self?.owner?.showPhotosOfComputer() }
        folderButton.onClick { [weak self] in self?.owner?.chooseFolder() }
        logInButton.onClick { [weak self] in self?.start((ServiceName.combined, .login)) }
        newPhotos.onClick { [weak self] in self?.feed?.reload() }
        statusButton.onClick { [weak self] in self?.start(self?.remedy) }
        bannerButton.onClick { [weak self] in self?.start(self?.notice?.remedy) }
        service.changed.observe(self) { [weak self] in self?.update() }
        service.restarted.observe(self) { [weak self] in self?.grid.retryFailed() }
        update()
    }

    /// Shows a feed, and loads its first page if that is not there.
    ///
    /// - Parameters:
    ///   - feed: The feed; nil for none.
    ///   - title: The title of the header.
    ///   - subtitle: The subtitle of the header.
    ///   - account: The account whose profile is above the photos; nil for none.
    func show(
        _ feed: Feed?, title: String, subtitle: String, profile account: AccountProperties? = nil
    ) {
        profile.show(account)
        // The words of a search remain in the field.
        if feed?.isSearch != true {
            searchRevealer.isRevealed = false
            search.clear()
        }
        header.setTitle(title, subtitle: subtitle)
        wantedMonth = nil
        self.feed = feed
        guard let feed else { return update() }
        grid.show(feed)
        feed.changed.observe(self) { [weak self, weak feed] change in
            guard let self, self.feed === feed else { return }
            if case .photo = change { return }
            update()
            if case .failed(let problem) = feed?.state, problem.kind == .notFound {
                owner?.showDefaultSource()
            }
        }
        if feed.photos.isEmpty { feed.loadMore() }
        update()
    }

    private func start(_ remedy: (ObjectPath, Remedy)?) {
        if let (account, remedy) = remedy { owner?.start(remedy, of: account) }
    }

    /// Shows the number of selected photos and the actions for all of them; hides the bar for none.
    func updateSelection() {
        guard let feed else { return }
        let photos = grid.selectedPhotos
        selectionBar.isRevealed = !photos.isEmpty
        if photos.isEmpty { return }
        selectionLabel.text = trn("{count} photo selected", "{count} photos selected", photos.count)
        selectionButtons.removeAll()
        let end = MenuEntry(tr("End the selection"), icon: "window-close-symbolic") {}
        for entry in actions.entries(photos, in: feed) + [end] {
            let button = Button(icon: entry.icon, tooltip: entry.title) { [weak self] in
                self?.grid.clearSelection()
                entry.action()
            }
            selectionButtons.append(button.styled("flat"))
        }
    }

    // MARK: Months

    func openMonths() { if monthButton.isVisible { monthButton.open() } }

    func monthsChanged() {
        updateMonthButton()
        if monthButton.menu.isVisible { listMonths() }
        // The grid is being laid out.
        if wantedMonth != nil { Task { [weak self] in self?.findMonth() } }
    }

    /// Shows the wanted month, or the next earlier one, as soon as it is loaded.
    private func findMonth() {
        guard let wantedMonth, let feed else { return }
        let month = grid.months.first { $0.number <= wantedMonth }
        guard month != nil || feed.state == .complete else { return feed.loadMore() }
        self.wantedMonth = nil
        if let month = month ?? grid.months.last { grid.show(month) }
    }

    private func updateMonthButton() {
        // More months may follow a single one.
        monthButton.isVisible =
            stack.visiblePage == "photos"
            && grid.months.count > (feed?.state == .complete ? 1 : 0)
    }

    /// Adds the months that are not in the menu yet, in one submenu for each year.
    ///
    /// A service may have more photos than are loaded. The months of the ten years before them follow.
    private func listMonths() {
        guard let count = listedCount, let feed, let last = grid.months.last else { return }
        var numbers = grid.months.dropFirst(count).map(\.number)
        listedCount = grid.months.count
        if !feed.isLoadingToEnd, feed.state == .partial {
            listedCount = nil
            let first = (last.number / 12 - 10) * 12
            numbers += (first..<last.number).reversed()
        }
        for number in numbers {
            let entry = MenuEntry(MonthList.title(of: number)) { [weak self] in
                self?.wantedMonth = number
                self?.findMonth()
            }
            monthButton.menu.add([entry], toSubmenu: "\(1900 + number / 12)")
        }
    }

    /// Shows the month of the first photo of the visible part, after that has moved.
    func show(_ month: MonthList.Month) {
        guard grid.months.count > 1 else { return }
        if monthLabel.text != month.title { monthLabel.text = month.title }
        monthLabel.isVisible = true
        monthTimer.start(after: .seconds(1))
    }

    func startSearch() {
        searchRevealer.isRevealed = true
        search.grabFocus()
    }

    private func endSearch() {
        searchRevealer.isRevealed = false
        owner?.search(nil)
    }

    /// Shows the state of the service, the account and the feed.
    private func update() {
        if let account = profile.account { profile.show(service.account(account.path)) }
        updateBanner()
        searchButton.isVisible = feed != nil && profile.account == nil
        guard let feed else { return updateWithoutFeed() }
        newPhotosRevealer.isRevealed = feed.newCount > 0
        if feed.newCount > 0 {
            newPhotos.setLabel(trn("{count} new photo", "{count} new photos", Int(feed.newCount)))
        }
        tail.isVisible = feed.state == .loading && (!feed.photos.isEmpty || profile.account != nil)
        profile.reason.isVisible = false
        if !feed.photos.isEmpty { return show("photos") }
        switch feed.state {
        case .loading: show(profile.account == nil ? "loading" : "photos")
        case .partial, .complete: showEmpty(feed)
        case .failed(let problem): show(problem, of: feed.account)
        }
    }

    private func updateWithoutFeed() {
        switch service.state {
        case .connecting: show("loading")
        case .failed(let problem): show(problem, of: nil)
        case .ready:
            remedy = nil
            localButton.isVisible = service.providers.contains { $0.has("register") }
            explain(
                "org.imagefeed.Viewer", "Image Feed",
                tr(
                    "Shows the photos in {folder}, and those of services.",
                    ["folder": Downloads.folder.text]), welcomeButtons)
        }
    }

    /// Shows why there are no photos, with a button or other widgets.
    private func explain(
        _ icon: String, _ title: String, _ description: String, _ child: Widget? = nil
    ) {
        if let isLoggedIn = profile.account?.isLoggedIn {
            // The reason may be that of the account, which is above the profile.
            profile.reason.isVisible = isLoggedIn && description != notice?.sentence
            profile.reason.text = description
            return show("photos")
        }
        status.set(icon: icon, title: title, description: description, child: child)
        show("status")
    }

    private func showEmpty(_ feed: Feed) {
        if feed.isSearch {
            return explain(
                "system-search-symbolic", tr("No photos found"), tr("Search for other words."))
        }
        switch feed.source {
        case "likes":
            explain(
                "emote-love-symbolic", tr("No liked photos"),
                tr("Photos that you like appear here."))
        case "memories":
            explain(
                "document-open-recent-symbolic", tr("No memories today"),
                tr("Photos taken on this day in earlier years appear here."))
        default:
            explain(
                "image-x-generic-symbolic", tr("No photos"),
                tr("New photos appear here as soon as they arrive."))
        }
    }

    private func show(_ problem: Problem, of account: ObjectPath?) {
        let state: (icon: String, title: String)? =
            switch problem.kind {
            case .offline: ("network-offline-symbolic", tr("Offline"))
            case .rateLimited: ("appointment-soon-symbolic", tr("Too many requests"))
            case .secretStoreLocked, .secretStoreUnavailable:
                ("dialog-password-symbolic", tr("Keyring locked"))
            case .needsLogin: ("avatar-default-symbolic", tr("Login expired"))
            default: nil
            }
        // The state of the account has more facts, such as the end of a rate limit.
        let notice = account != nil && state != nil ? notice : nil
        let (icon, title) = state ?? ("dialog-warning-symbolic", tr("Photos cannot be loaded"))
        let own = problem.remedy.map { (account ?? ServiceName.root, $0) }
        remedy = notice == nil ? own : notice?.remedy
        if let remedy { statusButton.setLabel(remedy.1.title) }
        explain(
            icon, title, notice?.sentence ?? problem.sentence, remedy == nil ? nil : statusButton)
    }

    // MARK: States

    /// The state of the service, the network or an account that the user should know of, with its remedy.
    private var notice: (sentence: String, remedy: (ObjectPath, Remedy)?)? {
        if feed?.isFileList == true { return nil }
        switch service.state {
        case .connecting:
            return (tr("The connection to the service was lost. It is being restored."), nil)
        case .failed(let problem):
            return (problem.sentence, (ServiceName.root, .retry))
        case .ready: break
        }
        let accounts = feed.map { service.accounts(of: $0.account) } ?? []
        // The feed of an account that was logged out is replaced.
        let account = accounts.first { ![.ready, .loading, .loggedOut].contains($0.state) }
        let remote = accounts.first { !service.isLocal($0) }
        if let remote, !service.isOnline, account?.state ?? .offline == .offline {
            // The user may know earlier that the network is back.
            return (
                tr("There is no network connection. New photos appear when it is back."),
                (remote.path, .retry)
            )
        }
        guard let account, !account.stateReason.isEmpty else { return nil }
        let sentence =
            accounts.count > 1
            ? tr("{account}: {reason}", ["account": account.label, "reason": account.stateReason])
            : account.stateReason
        // The state offline ends by itself, but the user may know earlier that the network is back.
        let remedy = account.remedy ?? (account.state == .offline ? .retry : nil)
        return (sentence, remedy.map { (account.path, $0) })
    }

    /// Shows the notice above the photos, or above the page of an empty source. Other pages have their own sentence.
    private func updateBanner() {
        let isLoaded = feed?.state == .partial || feed?.state == .complete
        let hasContent = feed?.photos.isEmpty == false || profile.account != nil
        let notice = isLoaded || hasContent ? notice : nil
        if let notice {
            bannerLabel.text = notice.sentence
            bannerButton.isVisible = notice.remedy != nil
            if let remedy = notice.remedy { bannerButton.setLabel(remedy.1.title) }
        }
        bannerRevealer.isRevealed = notice != nil
    }

    private func show(_ page: String) {
        // The button that led to the photos is hidden, and the first button of the window is of no use.
        let isInUse = searchRevealer.isRevealed || profile.account != nil
        if page == "photos", stack.visiblePage != page, !isInUse { grid.takeFocus() }
        stack.visiblePage = page
        updateMonthButton()
    }
}
