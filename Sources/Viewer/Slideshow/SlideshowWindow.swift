internal import Contract
internal import DBus
internal import Toolkit
internal import Translation

/// A small window without decoration that shows the photo of a slideshow.
final class SlideshowWindow {
    let window: Window
    /// Called after the window was closed.
    var onClosed: (() -> Void)?

    private let service: Service
    /// The name of the slideshow; empty for the default one.
    private let name: String
    /// The slideshow; nil before it is open.
    private var slideshow: SlideshowClient?
    private let loader: ImageLoader
    private let likes: Likes
    private let picture = Picture()
    private let message = Label().wrapping(atStart: false)
    private let controls = Box(.horizontal, spacing: 6)
    private var keys: [String: () -> Void] = [:]
    private let controlsRevealer: Revealer
    private let pauseButton = Button(icon: "media-playback-pause-symbolic", tooltip: tr("Pause"))
    private let likeButton = Button(icon: "emote-love-symbolic", tooltip: tr("Like"))
    private let toasts: ToastArea

    private let placement: WidgetPlacement
    private var showsEveryShape: Bool
    /// The orientation that this window has set; nil if it has set none.
    private var orientation: String?
    /// The list of the photo that is shown; nil if there is none.
    private var feed: Feed?
    private var photo: Photo? { feed?.photos.first }
    private var isPaused = false
    private var subscription: SignalSubscription?
    private var isClosed = false
    private var task: Task<Void, Never>?
    private var shownKey: ImageLoader.Key?

    /// - Parameters:
    ///   - application: The application.
    ///   - name: The name of the slideshow, which is created if necessary; empty for the default one.
    ///   - service: The daemon.
    ///   - loader: Loads the image.
    init(
        _ application: Application, _ name: String, _ service: Service, _ loader: ImageLoader
    ) {
        self.service = service
        self.name = name
        self.loader = loader
        likes = Likes(service)
        let state = WindowState.load(name) ?? WindowState(width: 420, height: 300)
        showsEveryShape = state.showsEveryShape
        window = Window(
            application, title: tr("Image Feed Slideshow") + (name.isEmpty ? "" : " \(name)"),
            width: state.width, height: state.height)
        controlsRevealer = Revealer(controls)
        message.aligned(.center, .center).margins(18)
        picture.expanding()
        placement = WidgetPlacement(window)
        let overlay = Overlay(placement.moving(picture), message, controlsRevealer)
        overlay.styled("slideshow-frame")
        overlay.expanding()
        toasts = ToastArea(overlay)
        window.setDecorated(false)
        window.setMinimumSize(width: 160, height: 120)
        window.setContent(toasts)
        addControls()
        connect(overlay)
        start()
    }

    private func addControls() {
        add(Button(icon: "media-skip-backward-symbolic", tooltip: tr("Previous photo")), "Left") {
            $0.report { try await $0.previous() }
        }
        add(pauseButton, "space") { $0.togglePause() }
        add(Button(icon: "media-skip-forward-symbolic", tooltip: tr("Next photo")), "Right") {
            $0.report { try await $0.next() }
        }
        add(likeButton, "l") { $0.like() }
        let hide = Button(
            icon: "view-conceal-symbolic", tooltip: tr("Hide this photo from the slideshow"))
        add(hide, nil) { window in
            guard let photo = window.photo else { return }
            window.report { try await $0.hide(photo.id) }
        }
        // The settings of the default slideshow belong to all widgets.
        if !name.isEmpty {
            let every = ToggleButton(
                icon: "view-fullscreen-symbolic", tooltip: tr("Photos of every shape")
            ) { [weak self] in
                self?.showsEveryShape = $0
                self?.setOrientation()
            }
            every.isActive = showsEveryShape
            controls.append(every)
        }
        let close = Button(icon: "window-close-symbolic", tooltip: tr("Close"))
        add(close, "Escape") { $0.window.close() }
        controls.styled("osd", "controls")
        controlsRevealer.aligned(.center, .end).margins(8)
    }

    /// Adds a button and its key.
    private func add(
        _ button: Button, _ key: String?, _ action: @escaping (SlideshowWindow) -> Void
    ) {
        let perform = { [weak self] in
            if let self { action(self) }
        }
        button.onClick(perform)
        controls.append(button)
        if let key { keys[key] = perform }
    }

    private func connect(_ overlay: Overlay) {
        overlay.onPointer(
            moved: { [weak self] _, _ in self?.controlsRevealer.isRevealed = true },
            left: { [weak self] in self?.controlsRevealer.isRevealed = false })
        overlay.onFocusChange { [weak self] in self?.controlsRevealer.isRevealed = $0 }
        window.onKey { [weak self] key in
            guard let perform = self?.keys[key] else { return false }
            perform()
            return true
        }
        window.onResize { [weak self] in self?.setOrientation() }
        window.onClose = { [weak self] in
            guard let self else { return false }
            // A slideshow that is not open may have no valid name.
            if slideshow != nil {
                var state = WindowState(
                    width: window.width, height: window.height, position: placement.position)
                state.showsEveryShape = showsEveryShape
                state.save(name)
            }
            isClosed = true
            subscription = nil
            task?.cancel()
            // The daemon also notices when this program leaves the bus.
            Task { [slideshow] in try? await slideshow?.detach() }
            onClosed?()
            return false
        }
        service.restarted.observe(self) { [weak self] in self?.start() }
        likes.failed.observe(self) { [weak self] failure in
            self?.toasts.show(failure.sentence)
        }
    }

    /// Shows the window where it was when it was closed.
    func present() { placement.present(window, at: WindowState.load(name)?.position) }

    // MARK: State

    private func start() {
        message.text = tr("Loading…")
        orientation = nil
        Task { [weak self, service, name] in
            do {
                var slideshow = service.client.slideshow
                if !name.isEmpty {
                    slideshow = service.client.slideshow(
                        try await service.client.manager.openSlideshow(name))
                }
                self?.slideshow = slideshow
                // The first photo has the orientation, too.
                self?.setOrientation()
                let subscription = try await slideshow.watch { self?.apply($0) }
                // If the window was closed meanwhile, nothing would detach it.
                guard self?.isClosed == false else { return }
                self?.subscription = subscription
                try await slideshow.attach()
                self?.apply(try await slideshow.properties().properties)
            } catch {
                self?.message.text = Problem(error).sentence
            }
        }
    }

    private func apply(_ changes: [String: Variant]) {
        if let paused = changes["Paused"]?.bool {
            isPaused = paused
            pauseButton.showPause(paused)
        }
        if let photo = changes["Photo"]?.members { show(Photo(photo)) }
    }

    private func show(_ photo: Photo?) {
        guard let photo else {
            feed = nil
            picture.texture = nil
            shownKey = nil
            message.text = tr("There is no photo to show. Log in to an account with photos.")
            return
        }
        if feed?.photo(photo.id) != photo {
            let feed = Feed(service, account: ServiceName.combined, photos: [photo])
            feed.changed.observe(self) { [weak self] _ in self?.updateLike() }
            self.feed = feed
        }
        updateLike()
        picture.setAccessibleName(photo.accessibleName)
        let scale = window.scaleFactor
        let limit = (max(window.width, window.height, 640) * scale + 255) / 256 * 256
        let key = ImageLoader.Key(
            account: ServiceName.combined, photo: photo.id, size: "regular", width: limit,
            height: limit)
        guard key != shownKey else { return }
        shownKey = key
        task?.cancel()
        task = Task { [weak self, loader] in
            do {
                let texture = try await loader.load(key).texture
                self?.picture.texture = texture
                self?.message.text = ""
            } catch {
                if !(error is CancellationError) { self?.message.text = Problem(error).sentence }
            }
        }
    }

    private func updateLike() {
        if let photo { likeButton.showLike(of: photo) }
    }

    // MARK: Actions

    /// Chooses photos of the shape of the window.
    private func setOrientation() {
        guard !name.isEmpty, slideshow != nil else { return }
        let size = window.restoredSize
        let wanted =
            showsEveryShape ? "any" : WindowState(width: size.width, height: size.height).shape
        guard wanted != orientation else { return }
        orientation = wanted
        report { try await $0.setOrientation(wanted) }
    }

    private func togglePause() {
        let isPaused = !isPaused
        report { try await $0.setPaused(isPaused) }
    }
    private func like() {
        guard let photo, let feed else { return }
        likes.toggle(photo.id, in: feed)
    }

    private func report(_ action: @escaping (SlideshowClient) async throws -> Void) {
        guard let slideshow else { return }
        toasts.perform { try await action(slideshow) }
    }
}
