internal import Contract
internal import Dispatch
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// One photo in the whole window, with its actions.
final class PhotoPage {
    let widget = Box(.vertical)
    /// Called when the user leaves the photo, with its index.
    var onBack: ((Int) -> Void)?

    private let window: Window
    private let actions: PhotoActions
    private let header = HeaderBar()
    private let fullScreen: FullScreenControls
    private let image: PhotoImage
    private let view: PhotoView
    private let info = InfoPanel()
    private let flap: Flap
    private let likeButton = Button(icon: "emote-love-symbolic", tooltip: tr("Like"))
    private let downloadButton = Button(icon: "document-save-symbolic", tooltip: tr("Download"))
    private let infoButton: ToggleButton
    private let fullScreenButton = Button(
        icon: "view-fullscreen-symbolic", tooltip: tr("Full screen"))
    private let leaveButton = Button(
        icon: "view-restore-symbolic", tooltip: tr("Leave full screen"))
    private let pauseButton = Button(icon: "media-playback-pause-symbolic", tooltip: tr("Pause"))
    private let previousButton = Button(icon: "go-previous-symbolic", tooltip: tr("Previous photo"))
    private let nextButton = Button(icon: "go-next-symbolic", tooltip: tr("Next photo"))
    private let menuButton = MenuButton(icon: "view-more-symbolic", tooltip: tr("More actions"))
    private let contextMenu = Menu()

    private var feed: Feed?
    private var index = 0
    private var photoID = ""
    private var isInSlideshow: Bool { pauseButton.isVisible }
    private lazy var slideshowTimer = MainLoopTimer { [weak self] in self?.showNextOfSlideshow() }

    /// The time for which the slideshow shows a photo.
    private static let slideshowTime = Duration.seconds(8)

    init(_ window: Window, _ loader: ImageLoader, _ actions: PhotoActions) {
        self.window = window
        self.actions = actions
        image = PhotoImage(loader, isLocal: actions.isLocal)
        view = image.view
        previousButton.styled("circular", "osd", "step").aligned(.start, .center).margins(12)
        nextButton.styled("circular", "osd", "step").aligned(.end, .center).margins(12)
        fullScreen = FullScreenControls(
            widget, window, header, view, [previousButton, nextButton],
            hasMenu: { [menuButton, contextMenu] in
                menuButton.menu.isVisible || contextMenu.isVisible
            })
        let overlay = Overlay(
            view.widget, image.spinner, image.problemBox, previousButton, nextButton,
            actions.downloads.bar, fullScreen.revealer)
        widget.styled("photo-page")
        // In a narrow window, the information covers the photo.
        overlay.setMinimumSize(width: 240)
        flap = Flap(content: overlay, flap: info.widget, atEnd: true).expanding()
        infoButton = ToggleButton(icon: "help-about-symbolic", tooltip: tr("Information")) {
            [flap] in
            flap.isRevealed = $0
        }
        widget.append(header, flap)
        addHeader()
        connect()
        fullScreen.connect(overlay)
    }

    private func addHeader() {
        header.addStart(
            Button(icon: "go-previous-symbolic", tooltip: tr("Back to the photos")) { [weak self] in
                self?.leave()
            })
        header.addEnd(menuButton)
        leaveButton.isVisible = false
        pauseButton.isVisible = false
        header.addEnd(leaveButton)
        header.addEnd(pauseButton)
        // In a narrow window, these are only in the menu.
        header.addEnd(
            OptionalWidth(
                Box(.horizontal, spacing: 6, downloadButton, fullScreenButton, infoButton)))
        header.addEnd(likeButton)
        menuButton.onOpen { [weak self] in
            guard let self else { return }
            fill(menuButton.menu)
        }
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
        for (button, command) in [
            (likeButton, Command.like), (downloadButton, .download),
            (fullScreenButton, .fullScreen), (leaveButton, .fullScreen), (pauseButton, .pause),
            (previousButton, .previous), (nextButton, .next),
        ] {
            button.onClick { [weak self] in self?.perform(command) }
        }
        view.onSwipe = { [weak self] in
            guard let self else { return false }
            return step($0 * forward)
        }
        flap.onReveal { [weak self] in
            guard let self else { return }
            infoButton.setActive(flap.isRevealed)
            if flap.isRevealed { showFile() }
        }
        fullScreen.onChange = { [weak self] in self?.updateFullScreen($0) }
        widget.onKey(beforeChildren: true) { [weak self] in self?.handle($0) ?? false }
        view.widget.onSecondaryPress { [weak self] x, y in self?.openMenu((x, y)) }
        // The buttons back and forward of a mouse.
        widget.onPress(button: 8) { [weak self] _, _, _ in self?.perform(.previous) }
        widget.onPress(button: 9) { [weak self] _, _, _ in self?.perform(.next) }
    }

    // MARK: Photos

    /// Shows a photo of a feed.
    func show(_ feed: Feed, _ index: Int) {
        observe(feed)
        show(index)
        view.widget.grabFocus()
    }

    private func observe(_ feed: Feed) {
        self.feed = feed
        feed.changed.observe(self) { [weak self, weak feed] change in
            guard let self, let feed, self.feed === feed, !photoID.isEmpty else { return }
            switch change {
            case .photo(let changed): if changed == index { updateState() }
            case .removed, .reset:
                if let moved = feed.index(of: photoID) {
                    index = moved
                    updateState()
                } else if feed.photos.isEmpty {
                    leave()
                } else {
                    show(min(index, feed.photos.count - 1))
                }
            case .extended: updateState()
            case .arrived: break
            case .available: image.retry()
            }
        }
    }

    /// Continues in another feed that contains the photo that is shown.
    func adopt(_ feed: Feed, _ index: Int) {
        observe(feed)
        self.index = index
        photoID = feed.photos[index].id
        image.adopt(feed, photoID)
        showFacts(feed.photos[index])
    }

    /// The feed of the photo that is shown; nil if none is shown.
    var shownFeed: Feed? { photoID.isEmpty ? nil : feed }

    private func show(_ index: Int) {
        guard let feed, feed.photos.indices.contains(index) else { return }
        self.index = index
        let photo = feed.photos[index]
        photoID = photo.id
        showFacts(photo)
        image.show(photo, in: feed)
        if feed.photos.count - index < 10 { feed.loadMore() }
    }

    private func showFacts(_ photo: Photo) {
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
            guard let self, let status, photoID == photo.id else { return }
            if let facts {
                feed.change(photoID) { $0.photo.setFacts(facts) }
                if let photo = self.photo { info.show(photo) }
            }
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

    private var photo: Photo? { feed?.photo(photoID) }

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
        if key == "Tab" || key == "ISO_Left_Tab" { fullScreen.show() }
        guard let command = Shortcut.command(key, in: .photo) else { return false }
        // A selectable text uses the keys for the cursor and the clipboard.
        if info.widget.hasFocusWithin,
            [.left, .right, .up, .down, .first, .last, .previous, .next, .copy].contains(command)
        {
            return false
        }
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
        case .like: if let feed { actions.likes.toggle(photoID, in: feed) }
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
    func close() { if !photoID.isEmpty { leave() } }

    private func leave() {
        window.isFullScreen = false
        let index = index
        photoID = ""
        feed?.cancelEnd()
        feed = nil
        image.clear()
        window.title = "Image Feed"
        onBack?(index)
    }

    // MARK: Full screen

    private func updateFullScreen(_ isFullScreen: Bool) {
        fullScreenButton.isVisible = !isFullScreen
        leaveButton.isVisible = isFullScreen
        if isFullScreen { flap.isRevealed = false } else { endSlideshow() }
    }

    /// Shows one photo after another in full screen, beginning with the one that is shown.
    func startSlideshow() {
        pauseButton.isVisible = true
        window.isFullScreen = true
        window.inhibitIdle(true)
        setPaused(false)
    }

    private func endSlideshow() {
        guard isInSlideshow else { return }
        pauseButton.isVisible = false
        window.inhibitIdle(false)
        slideshowTimer.cancel()
    }

    private func setPaused(_ isPaused: Bool) {
        guard isInSlideshow else { return }
        if isPaused {
            slideshowTimer.cancel()
        } else {
            slideshowTimer.start(after: Self.slideshowTime)
        }
        pauseButton.showPause(isPaused)
    }

    private func showNextOfSlideshow() {
        // A photo that is still loading stays until the next time.
        if !image.isLoading, !step(1) { show(0) }
        slideshowTimer.start(after: Self.slideshowTime)
    }
}
