internal import BusAPI
internal import DBus
internal import System
internal import Toolkit

/// One photo in the whole window, with its actions.
final class PhotoPage {
    let widget: ToastArea
    /// Called when the user leaves the photo, with its index.
    var onBack: ((Int) -> Void)?
    var onLike: ((String, Feed) -> Void)?

    private let window: Window
    private let service: Service
    private let loader: ImageLoader
    private let downloads: Downloads
    private let header = HeaderBar()
    private let view = PhotoView()
    private let info: InfoPanel
    private let flap: Flap
    private let spinner = Spinner(size: 48)
    private let problemLabel = Label().wrapping(atStart: false)
    private let problemBox: Box
    private let likeButton = Button(icon: "emote-love-symbolic", tooltip: "Like")
    private let infoButton: ToggleButton
    private let fullScreenButton = Button(icon: "view-fullscreen-symbolic", tooltip: "Full screen")
    private let previousButton = Button(icon: "go-previous-symbolic", tooltip: "Previous photo")
    private let nextButton = Button(icon: "go-next-symbolic", tooltip: "Next photo")
    private let menu = MenuButton(icon: "open-menu-symbolic", tooltip: "More actions")
    private let downloadBar: DownloadBar
    private let sharing: PhotoSharing

    private var feed: Feed?
    private var index = 0
    private var photoID = ""
    private var task: Task<Void, Never>?
    private var preloads: [Task<Void, Never>] = []
    private var isSharp = false

    init(_ window: Window, _ service: Service, _ loader: ImageLoader) {
        self.window = window
        self.service = service
        self.loader = loader
        downloads = Downloads(service)
        info = InfoPanel()
        let retry = Button("_Try again")
        retry.aligned(.center, .center).styled("pill")
        problemBox = Box(.vertical, spacing: 12, problemLabel, retry)
        problemBox.aligned(.center, .center).margins(24).styled("osd", "problem")
        problemBox.isVisible = false
        spinner.aligned(.center, .center)
        spinner.receivesPointer = false
        previousButton.styled("circular", "osd", "step").aligned(.start, .center).margins(12)
        nextButton.styled("circular", "osd", "step").aligned(.end, .center).margins(12)
        downloadBar = DownloadBar(downloads)
        let overlay = Overlay(
            view.widget, spinner, problemBox, previousButton, nextButton, downloadBar.widget)
        overlay.styled("photo-page")
        // In a narrow window, the information covers the photo.
        overlay.setMinimumSize(width: 240)
        flap = Flap(content: overlay, flap: info.widget, atEnd: true)
        flap.expanding()
        infoButton = ToggleButton(icon: "help-about-symbolic", tooltip: "Information") { [flap] in
            flap.isRevealed = $0
        }
        widget = ToastArea(Box(.vertical, spacing: 0, header, flap))
        sharing = PhotoSharing(window, widget)
        retry.onClick { [weak self] in self?.load() }
        addHeader()
        connect()
    }

    private func addHeader() {
        header.addStart(
            Button(icon: "go-previous-symbolic", tooltip: "Back to the photos") { [weak self] in
                self?.leave()
            })
        header.addEnd(menu)
        let download = Button(icon: "document-save-symbolic", tooltip: "Download") { [weak self] in
            self?.download()
        }
        // In a narrow window, these are only in the menu.
        header.addEnd(
            OptionalWidth(Box(.horizontal, spacing: 6, download, fullScreenButton, infoButton)))
        header.addEnd(likeButton)
        menu.add("Download") { [weak self] in self?.download() }
        menu.add("Full screen") { [weak self] in self?.toggleFullScreen() }
        menu.add("Information") { [weak self] in self?.flap.isRevealed.toggle() }
        menu.add("Copy link") { [weak self] in self?.copyLink() }
        menu.add("Open in browser") { [weak self] in
            guard let self else { return }
            sharing.openLink(photo)
        }
        menu.add("Send by e-mail") { [weak self] in
            guard let self else { return }
            sharing.mailLink(photo)
        }
        menu.add("Download as…") { [weak self] in self?.downloadAs() }
        menu.add("Use as avatar") { [weak self] in self?.useAsAvatar() }
        menu.add("Show in the slideshow") { [weak self] in
            self?.slideshow("The slideshow shows this photo.") { try await $0.show($1) }
        }
        menu.add("Hide from the slideshow") { [weak self] in
            self?.slideshow("The slideshow no longer shows this photo.") { try await $0.hide($1) }
        }
        menu.add("Rotate left") { [weak self] in self?.view.rotate(by: -90) }
        menu.add("Rotate right") { [weak self] in self?.view.rotate(by: 90) }
        menu.add("Zoom in") { [weak self] in self?.view.zoom(by: 1.5) }
        menu.add("Zoom out") { [weak self] in self?.view.zoom(by: 1 / 1.5) }
    }

    private func connect() {
        likeButton.onClick { [weak self] in self?.like() }
        fullScreenButton.onClick { [weak self] in self?.toggleFullScreen() }
        previousButton.onClick { [weak self] in self?.step(-1) }
        nextButton.onClick { [weak self] in self?.step(1) }
        view.onSwipe = { [weak self] in self?.step($0) ?? false }
        view.onZoom = { [weak self] in self?.loadSharp() }
        flap.onReveal { [weak self] in
            guard let self else { return }
            infoButton.isActive = flap.isRevealed
        }
        window.onFullScreenChange { [weak self] in self?.updateFullScreen() }
        widget.onKey(beforeChildren: true) { [weak self] in self?.handle($0) ?? false }
        downloads.finished.observe(self) { [weak self] in self?.widget.show($0) }
    }

    // MARK: Photos

    /// Shows a photo of a feed.
    func show(_ feed: Feed, _ index: Int) {
        self.feed = feed
        feed.changed.observe(self) { [weak self, weak feed] change in
            guard let self, self.feed === feed else { return }
            feedChanged(change)
        }
        show(index)
        view.widget.grabFocus()
    }

    private func feedChanged(_ change: Feed.Change) {
        guard let feed, !photoID.isEmpty else { return }
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
        }
    }

    private func show(_ index: Int) {
        guard let feed, feed.photos.indices.contains(index) else { return }
        self.index = index
        let photo = feed.photos[index]
        photoID = photo.id
        isSharp = false
        header.setTitle(photo.title.isEmpty ? "Photo" : photo.title, subtitle: photo.author)
        view.widget.setAccessibleName(photo.accessibleName)
        info.show(photo)
        updateState()
        load()
        if feed.photos.count - index < 10 { feed.loadMore() }
    }

    /// Shows a neighbor.
    ///
    /// - Returns: False if there is none.
    @discardableResult
    private func step(_ offset: Int) -> Bool {
        guard let feed, feed.photos.indices.contains(index + offset) else { return false }
        show(index + offset)
        return true
    }

    private var photo: Photo? { feed?.photo(photoID) }

    private func updateState() {
        guard let feed, let photo else { return }
        previousButton.isVisible = index > 0
        nextButton.isVisible = index + 1 < feed.photos.count
        let name = photo.wantsLike ? "Unlike" : "Like"
        likeButton.setAccessibleName(name)
        likeButton.tooltip = photo.isPending ? "\(name) (not confirmed yet)" : name
        likeButton.setClass("liked-photo", photo.wantsLike)
        likeButton.setClass("pending-photo", photo.isPending)
        info.update(photo)
    }

    // MARK: Images

    /// The size of the view in pixels of the screen.
    private var pixels: (width: Int, height: Int) {
        let scale = view.widget.scaleFactor
        return (max(view.widget.width, 640) * scale, max(view.widget.height, 480) * scale)
    }

    private func key(_ photo: Photo, _ size: String) -> ImageLoader.Key {
        // The size in pixels is rounded, so that the preloaded images fit after small changes.
        let (width, height) = pixels
        let limit = size == "full" ? 8192 : (max(width, height) + 511) / 512 * 512
        return ImageLoader.Key(
            account: feed?.account ?? photo.account, photo: photo.id, size: size, width: limit,
            height: limit)
    }

    private func load() {
        guard let photo else { return }
        task?.cancel()
        for preload in preloads { preload.cancel() }
        preloads = []
        problemBox.isVisible = false
        let key = key(photo, "regular")
        if let texture = loader.cached(key) {
            show(texture, isSamePhoto: false)
            preloadNeighbors()
            return
        }
        view.show(nil, isSamePhoto: false)
        spinner.isVisible = true
        spinner.isSpinning = true
        task = Task { [weak self, loader] in
            do {
                let texture = try await loader.load(key)
                guard let self, photoID == photo.id else { return }
                show(texture, isSamePhoto: false)
                preloadNeighbors()
            } catch {
                guard let self, photoID == photo.id, !(error is CancellationError) else { return }
                stopSpinner()
                problemLabel.text = Problem(error).sentence
                problemBox.isVisible = true
            }
        }
    }

    private func show(_ texture: Texture, isSamePhoto: Bool) {
        stopSpinner()
        view.show(texture, isSamePhoto: isSamePhoto)
    }

    private func stopSpinner() {
        spinner.isVisible = false
        spinner.isSpinning = false
    }

    private func preloadNeighbors() {
        guard let feed else { return }
        for offset in [1, -1, 2] {
            guard feed.photos.indices.contains(index + offset) else { continue }
            let key = key(feed.photos[index + offset], "regular")
            preloads.append(Task { [loader] in _ = try? await loader.load(key) })
        }
    }

    /// Loads the full image once the user zooms in.
    private func loadSharp() {
        guard !isSharp, view.transform.zoom > 1.5, let photo else { return }
        isSharp = true
        let key = key(photo, "full")
        task?.cancel()
        task = Task { [weak self, loader] in
            // Without the full image, the smaller one remains.
            guard let texture = try? await loader.load(key, isKept: false), let self,
                photoID == photo.id
            else { return }
            show(texture, isSamePhoto: true)
        }
    }

    // MARK: Actions

    private func handle(_ key: KeyPress) -> Bool {
        guard !key.isAlt else { return false }
        switch key.name {
        case "Escape":
            if window.isFullScreen { window.isFullScreen = false } else { leave() }
        case "BackSpace": leave()
        case "Left" where key.isControl, "Left" where !view.transform.isZoomed: step(-1)
        case "Right" where key.isControl, "Right" where !view.transform.isZoomed: step(1)
        case "Left": view.pan(x: 60, y: 0)
        case "Right": view.pan(x: -60, y: 0)
        case "Up": view.pan(x: 0, y: 60)
        case "Down": view.pan(x: 0, y: -60)
        case "Page_Up": step(-1)
        case "Page_Down": step(1)
        case "Home": show(0)
        case "End": if let feed { show(feed.photos.count - 1) }
        case "plus", "equal", "KP_Add": view.zoom(by: 1.25)
        case "minus", "KP_Subtract": view.zoom(by: 1 / 1.25)
        case "0", "KP_0": view.showWhole()
        case "1", "KP_1": view.toggleZoom()
        case "r": view.rotate(by: 90)
        case "R": view.rotate(by: -90)
        case "l": like()
        case "i": flap.isRevealed.toggle()
        case "s" where key.isControl: download()
        case "c" where key.isControl: copyLink()
        case "F11", "f": toggleFullScreen()
        default: return false
        }
        return true
    }

    /// Returns to the photos if a photo is shown.
    func close() {
        if !photoID.isEmpty { leave() }
    }

    private func leave() {
        task?.cancel()
        window.isFullScreen = false
        let index = index
        photoID = ""
        onBack?(index)
    }

    private func like() {
        if let feed { onLike?(photoID, feed) }
    }

    private func toggleFullScreen() { window.isFullScreen.toggle() }

    private func updateFullScreen() {
        header.isVisible = !window.isFullScreen
        if window.isFullScreen { flap.isRevealed = false }
    }

    private func copyLink() { sharing.copyLink(photo) }

    private func download() {
        guard let photo, let feed else { return }
        downloads.start(photo, in: feed)
    }

    private func downloadAs() {
        guard let photo, let feed else { return }
        SaveDialog.present(
            window, title: "Download", name: Downloads.name(photo), folder: Downloads.folder.text
        ) { [weak self] path in
            if let path { self?.downloads.start(photo, in: feed, to: path) }
        }
    }

    private func useAsAvatar() {
        guard let photo, let feed else { return }
        let users = service.accounts.filter {
            service.provider(of: $0)?.has("avatar") == true && $0.hasFeed
        }
        guard let user = users.first(where: { $0.path == photo.account }) ?? users.first else {
            widget.show(
                "Log in as a local user first: other accounts have the avatar of their service.")
            return
        }
        let reference = PhotoReference(photo.id, in: feed.account)
        let id = reference.id(in: user.path) ?? reference.combinedID
        Task { [weak self, service] in
            do {
                try await service.client.account(user.path).setAvatar(id)
                self?.widget.show("The photo is the avatar of \(user.label).")
            } catch {
                self?.widget.show(Problem(error).sentence)
            }
        }
    }

    private func slideshow(
        _ success: String, _ action: @escaping (SlideshowClient, String) async throws -> Void
    ) {
        guard let photo, let feed else { return }
        let id = PhotoReference(photo.id, in: feed.account).combinedID
        Task { [weak self, service] in
            do {
                try await action(service.client.slideshow, id)
                self?.widget.show(success)
            } catch {
                self?.widget.show(Problem(error).sentence)
            }
        }
    }

    /// True if a download is running.
    var hasDownloads: Bool { downloads.isRunning }
    func cancelDownloads() { downloads.cancelAll() }
}
