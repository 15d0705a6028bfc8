internal import Contract
internal import Dispatch
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// One photo in the whole window, with its actions.
final class PhotoPage {
    let widget = Box(.vertical)
    /// Called when the user leaves the photo, with its ID.
    var onBack: ((String) -> Void)?

    let window: Window
    let header = HeaderBar()
    /// The place of the header in full screen, above the photo.
    let headerRevealer = Revealer().aligned(.fill, .start).styled("full-screen")
    var view: PhotoView { image.view }
    lazy var flap = Flap(content: overlay, flap: info.widget, atEnd: true).expanding()
    private lazy var overlay = view.widget.overlaid(
        with: image.spinner, image.problemBox, previousButton, nextButton,
        actions.downloads.bar, headerRevealer)
    private let actions: PhotoActions
    private let image: PhotoImage
    private let info = InfoPanel()
    private lazy var likeButton = button("emote-love-symbolic", tr("Like"), .like)
    private lazy var downloadButton = button("document-save-symbolic", tr("Download"), .download)
    private lazy var infoButton = Button(
        icon: "help-about-symbolic", tooltip: tr("Information"), staysPressed: true
    ) { [weak self] in self?.perform(.information) }
    lazy var fullScreenButton = button("view-fullscreen-symbolic", tr("Full screen"), .fullScreen)
    lazy var leaveButton = button("view-restore-symbolic", tr("Leave full screen"), .fullScreen)
    lazy var pauseButton = button("media-playback-pause-symbolic", tr("Pause"), .pause)
    lazy var previousButton = button("go-previous-symbolic", tr("Previous photo"), .previous)
    lazy var nextButton = button("go-next-symbolic", tr("Next photo"), .next)
    let menuButton = MenuButton(icon: "view-more-symbolic", tooltip: tr("More actions"))
    let contextMenu = Menu()

    /// The feed of the photo that is shown; nil if none is shown.
    var feed: Feed? { image.feed }
    var photo: Photo? { image.photo }
    private var index = 0
    /// The photo whose facts are shown, without its likes; nil if none is shown.
    private var shownFacts: Photo?
    /// The position of the pointer in the page.
    var pointer = (x: 0.0, y: 0.0)
    lazy var controlsTimer = MainLoopTimer { [weak self] in self?.hideControls() }
    private lazy var slideshowTimer = MainLoopTimer { [weak self] in self?.showNextOfSlideshow() }
    private var isInSlideshow: Bool { pauseButton.isVisible }

    /// The time for which the slideshow shows a photo.
    private static let slideshowTime = Duration.seconds(8)

    init(_ window: Window, _ loader: ImageLoader, _ actions: PhotoActions) {
        self.window = window
        self.actions = actions
        image = PhotoImage(loader, isLocal: actions.isLocal)
        previousButton.styled("circular", "osd", "step").aligned(.start, .center).margins(12)
        nextButton.styled("circular", "osd", "step").aligned(.end, .center).margins(12)
        widget.styled("photo-page")
        // In a narrow window, the information covers the photo.
        overlay.setMinimumSize(width: 240)
        widget.append(header, flap)
        addHeader()
        connect()
        connectFullScreen(overlay)
    }

    private func button(_ icon: String, _ title: String, _ command: Command) -> Button {
        Button(icon: icon, tooltip: title) { [weak self] in self?.perform(command) }
    }

    private func addHeader() {
        header.addStart(button("go-previous-symbolic", tr("Back to the photos"), .back))
        leaveButton.isVisible = false
        pauseButton.isVisible = false
        // In a narrow window, these are only in the menu.
        let others = Box(.horizontal, spacing: 6, downloadButton, fullScreenButton, infoButton)
            .hiddenIfNarrow()
        header.addEnd(menuButton, leaveButton, pauseButton, others, likeButton)
        menuButton.onOpen = { [weak self] in self?.fill($0) }
    }

    /// Fills a menu with the actions that fit the photo.
    private func fill(_ menu: Menu) {
        guard let feed, let photo else { return }
        func entry(_ title: String, _ command: Command, icon: String = "", _ key: String = "")
            -> MenuEntry
        {
            MenuEntry(title, icon: icon, key: key) { [weak self] in self?.perform(command) }
        }
        let fullScreen = window.isFullScreen ? tr("Leave full screen") : tr("Full screen")
        actions.fill(
            menu, photo, in: feed,
            [
                entry(fullScreen, .fullScreen, "F11"),
                entry(tr("Information"), .information, "i"),
            ])
        menu.add(
            [
                entry(tr("Rotate left"), .rotateLeft, icon: "object-rotate-left-symbolic"),
                entry(tr("Rotate right"), .rotateRight, icon: "object-rotate-right-symbolic"),
                entry(tr("Zoom out"), .zoomOut, icon: "zoom-out-symbolic"),
                entry(tr("Zoom in"), .zoomIn, icon: "zoom-in-symbolic"),
            ], areButtons: true)
    }

    private func openMenu(_ point: (x: Double, y: Double)?) {
        fill(contextMenu)
        contextMenu.open(in: widget, at: view.widget, point)
    }

    private func connect() {
        view.onSwipe = { [weak self] in
            guard let self else { return false }
            return step($0 * forward)
        }
        flap.onReveal { [weak self] in
            guard let self else { return }
            infoButton.setPressed(flap.isRevealed)
            if flap.isRevealed { showFile() }
        }
        widget.onKey(beforeChildren: true) { [weak self] in self?.handle($0) ?? false }
        view.widget.onSecondaryPress { [weak self] x, y in self?.openMenu((x, y)) }
        // The buttons back and forward of a mouse.
        widget.onPress(button: 8) { [weak self] _, _, _ in self?.perform(.previous) }
        widget.onPress(button: 9) { [weak self] _, _, _ in self?.perform(.next) }
    }

    // MARK: Photos

    /// Shows a photo of a feed.
    func show(_ feed: Feed, _ index: Int) {
        self.feed?.cancelEnd()
        // The grid may wait for it.
        feed.cancelEnd()
        observe(feed)
        show(index, of: feed)
        view.widget.grabFocus()
    }

    private func observe(_ feed: Feed) {
        feed.changed.observe(self) { [weak self, weak feed] change in
            guard let self, let feed, self.feed === feed else { return }
            switch change {
            case .photo(let changed): if changed == index { showFacts(feed.photos[index]) }
            case .removed, .reset:
                if let moved = feed.index(of: image.photoID) {
                    index = moved
                    showFacts(feed.photos[index])
                } else if feed.photos.isEmpty {
                    leave()
                } else {
                    show(min(index, feed.photos.count - 1))
                }
            case .extended: updateState()
            case .available: image.retry()
            }
        }
    }

    /// Continues in another feed that contains the photo that is shown.
    func adopt(_ feed: Feed, _ index: Int) {
        observe(feed)
        self.index = index
        image.adopt(feed, feed.photos[index].id)
        showFacts(feed.photos[index])
    }

    private func show(_ index: Int, of feed: Feed? = nil) {
        guard let feed = feed ?? self.feed, feed.photos.indices.contains(index) else { return }
        self.index = index
        image.show(feed.photos[index], in: feed)
        showFacts(feed.photos[index])
        if feed.photos.count - index < 10 { feed.loadMore() }
    }

    private func showFacts(_ photo: Photo) {
        var facts = photo
        (facts.photo.isLiked, facts.photo.isPending, facts.photo.likes) = (false, false, nil)
        // A like keeps the selection and the focus in the information.
        if facts == shownFacts { return updateState() }
        shownFacts = facts
        window.title = photo.title.isEmpty ? tr("Photo") : photo.title
        view.widget.setAccessibleName(photo.accessibleName)
        downloadButton.setName(actions.isLocal(photo) ? tr("Save a copy") : tr("Download"))
        info.show(photo)
        updateState()
        if flap.isRevealed { showFile() }
    }

    /// Shows the facts of the file of a photo on this computer.
    private func showFile() {
        guard let photo, let feed, actions.isLocal(photo) else { return }
        Task { [weak self] in
            guard let path = try? await self?.actions.path(of: photo, in: feed) else { return }
            let status = await DispatchQueue.global().run { FileStatus(path) }
            // The daemon reads the metadata of the others.
            let facts = photo.isFile ? await ImageLoader.facts(of: path) : nil
            guard let self, let status, image.photoID == photo.id else { return }
            if let facts { feed.change(photo.id) { $0.photo.setFacts(facts) } }
            info.show(file: path, byteCount: status.byteCount)
        }
    }

    /// Shows a neighbor.
    ///
    /// - Returns: False if there is none.
    @discardableResult
    private func step(_ offset: Int) -> Bool {
        guard let feed, feed.photos.indices.contains(index + offset) else { return false }
        view.beginSlide(offset * forward)
        show(index + offset)
        if slideshowTimer.isRunning { slideshowTimer.start(after: Self.slideshowTime) }
        return true
    }

    /// The step of the key Right and of a swipe to the left: -1 for languages that are written from right to left.
    private var forward: Int { widget.isRightToLeft ? -1 : 1 }

    private func updateState() {
        guard let feed, let photo else { return }
        previousButton.isVisible = index > 0
        nextButton.isVisible = index + 1 < feed.photos.count
        likeButton.isVisible = !photo.isFile
        downloadButton.isVisible = !photo.isFile
        likeButton.showLike(of: photo)
        info.update(photo)
        // Translators: the position of a photo and the number of photos, below its title.
        let position = tr(
            "{position} of {count}",
            ["position": text(ofNumber: index + 1), "count": text(ofNumber: feed.count)])
        header.setTitle(
            window.title,
            subtitle: [position, photo.author].filter { !$0.isEmpty }.joined(separator: " · "))
    }

    // MARK: Actions

    private func handle(_ key: String) -> Bool {
        // The controls of full screen are hidden from the key Tab, too.
        if key == "Tab" || key == "ISO_Left_Tab" { showControls() }
        guard let command = Shortcuts.photo.command(key) else { return false }
        // A selectable text uses the keys for the cursor and the clipboard.
        let ofText: [Command] = [.left, .right, .up, .down, .first, .last, .previous, .next, .copy]
        if info.widget.hasFocusWithin, ofText.contains(command) { return false }
        feed?.cancelEnd()
        perform(command)
        return true
    }

    private func perform(_ command: Command) {
        switch command {
        case .escape: if window.isFullScreen { window.isFullScreen = false } else { leave() }
        case .back: leave()
        case .left where view.target.isZoomed: view.change { $0.pan(x: 60, y: 0) }
        case .right where view.target.isZoomed: view.change { $0.pan(x: -60, y: 0) }
        case .left: step(-forward)
        case .right: step(forward)
        case .up: view.change { $0.pan(x: 0, y: 60) }
        case .down: view.change { $0.pan(x: 0, y: -60) }
        case .previous: step(-1)
        case .next: step(1)
        case .first: show(0)
        case .last: feed?.findEnd { [weak self] in self?.show($0) }
        case .zoomIn: view.zoom(by: 1.25)
        case .zoomOut: view.zoom(by: 1 / 1.25)
        case .showWhole: view.animate { $0.reset() }
        case .showPixels: view.animate { $0.togglePixels() }
        case .rotateRight: view.animate { $0.rotate(by: 90) }
        case .rotateLeft: view.animate { $0.rotate(by: -90) }
        case .like: if let feed { actions.likes.toggle(image.photoID, in: feed) }
        case .information: flap.isRevealed.toggle()
        case .download: if let photo, let feed { actions.download(photo, in: feed) }
        case .copy: if let photo, let feed { actions.copyPicture(photo, in: feed) }
        case .copyLink: if let photo { actions.copyLink(photo) }
        case .trash:
            if let feed, let photo, actions.isLocal(photo) { actions.trash([photo], in: feed) }
        case .menu: openMenu(nil)
        case .fullScreen: window.isFullScreen.toggle()
        case .pause: if isInSlideshow { setPaused(slideshowTimer.isRunning) } else { step(1) }
        default: break
        }
    }

    /// Returns to the photos if a photo is shown.
    func close() { if feed != nil { leave() } }

    private func leave() {
        window.isFullScreen = false
        feed?.cancelEnd()
        let photo = image.photoID
        image.clear()
        shownFacts = nil
        window.title = "Image Feed"
        onBack?(photo)
    }

    // MARK: Slideshow

    /// Shows one photo after another in full screen, beginning with the one that is shown.
    func startSlideshow() {
        pauseButton.isVisible = true
        window.isFullScreen = true
        window.inhibitIdle(true)
        setPaused(false)
    }

    func endSlideshow() {
        guard isInSlideshow else { return }
        pauseButton.isVisible = false
        window.inhibitIdle(false)
        slideshowTimer.cancel()
    }

    private func setPaused(_ isPaused: Bool) {
        guard isInSlideshow else { return }
        slideshowTimer.cancel()
        if !isPaused { slideshowTimer.start(after: Self.slideshowTime) }
        pauseButton.setIcon(
            isPaused ? "media-playback-start-symbolic" : "media-playback-pause-symbolic",
            tooltip: isPaused ? tr("Continue") : tr("Pause"))
    }

    private func showNextOfSlideshow() {
        // A photo that is still loading stays until the next time.
        if !image.isLoading, !step(1) { show(0) }
        slideshowTimer.start(after: Self.slideshowTime)
    }
}
