internal import Contract
internal import DBus
internal import ImageMetadata
internal import ProviderKit
internal import Toolkit
internal import Translation

/// One photo in the grid. The grid shows different photos in it while the user scrolls.
final class PhotoCell {
    private(set) lazy var widget = button.overlaid(
        with: failureIcon, animationLabel, facts, likeButton, selectionIcon)
    /// The index of the photo; nil if the cell is not in use.
    private(set) var index: Int?
    /// The part that has the focus.
    private(set) lazy var button = Button(listItem: picture).styled("flat", "photo")

    private weak var grid: FeedGrid?
    private let picture = Picture()
    private let failureIcon = Icon("image-missing-symbolic", size: 32).aligned(.center, .center)
    private let likeButton = Button(icon: "emote-love-symbolic", tooltip: tr("Like"))
    private let selectionIcon = Icon("object-select-symbolic", size: 24)
    private let facts = Label().ellipsizing().styled("osd", "facts", "caption").aligned(.fill, .end)
    private let animationLabel = Label(tr("Animated"))
    private let loader: ImageLoader
    /// Loads the image. Another task replaces it.
    private var task: Task<Void, Never>? { didSet { oldValue?.cancel() } }
    private var key: ImageLoader.Key?
    private(set) var photo: Photo?
    /// True if another request would fail in the same way.
    private var isRefused = false
    private var position = (0, 0)
    private var isSmall = false

    /// The width in units below which a card has no room for its button and its facts.
    private static let smallWidth = 110

    init(_ loader: ImageLoader, _ grid: FeedGrid) {
        self.loader = loader
        self.grid = grid
        likeButton.styled("circular", "osd", "like").aligned(.end, .start).margins(6)
        // The key of the grid likes the photo with the focus.
        likeButton.setFocusable(false)
        animationLabel.styled("osd", "badge", "caption").aligned(.start, .end).margins(6)
        selectionIcon.styled("selection").aligned(.start, .start).margins(6)
        for overlay in [facts, animationLabel, failureIcon, selectionIcon] {
            overlay.setTargetable(false)
        }
        selectionIcon.isVisible = false
        widget.onModifiedPress { [weak self] in self?.send($0 ? .selectRange : .select) }
        button.onClick { [weak self] in
            // A touch has no modifiers: once a photo is selected, further touches select, too.
            self?.send(self?.grid?.hasSelection == true ? .select : .open)
        }
        likeButton.onClick { [weak self] in self?.send(.like) }
        widget.onSecondaryPress { [weak self] x, y in
            guard let self, let index, let grid = self.grid else { return }
            grid.focus(index)
            grid.openMenu(index, widget, (x, y))
        }
    }

    private func send(_ command: Command) { if let index { grid?.perform(command, on: index) } }

    /// Shows a photo.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - index: Its position in the feed.
    ///   - account: The account or the combined account of the feed.
    ///   - width: The size of the cell in pixels of the screen.
    ///   - height: The size of the cell in pixels of the screen.
    func show(_ photo: Photo, index: Int, account: ObjectPath, width: Int, height: Int) {
        self.index = index
        update(photo)
        isSmall = width < Self.smallWidth * widget.scaleFactor
        updateVisibility()
        // Some steps, so that small changes of the window's width do not load everything again.
        let size = max(width, height) > 420 ? "regular" : "small"
        let step = 64
        let key = ImageLoader.Key(
            account: account, photo: photo.id, size: size, width: (width + step - 1) / step * step,
            height: (height + step - 1) / step * step)
        guard key != self.key else { return }
        let isSamePhoto = self.key?.photo == key.photo && self.key?.account == account
        self.key = key
        task = nil
        failureIcon.isVisible = false
        button.tooltip = ""
        if let image = loader.cached(key) { return show(image) }
        if !isSamePhoto { picture.setTexture(photo.placeholder) }
        task = Task { [weak self, loader] in
            do {
                let image = try await loader.load(key)
                if let self, self.key == key { show(image) }
            } catch {
                guard let self, self.key == key, !(error is CancellationError) else { return }
                failureIcon.isVisible = true
                button.tooltip = Problem(error).sentence
                isRefused = error is ImageProcessorError
                if !isRefused { grid?.scheduleRetry() }
            }
        }
    }

    private func show(_ image: LoadedImage) {
        let ratio = Double(image.fullWidth) / Double(image.fullHeight)
        // A photo that is longer than its place is shown as a whole.
        picture.setTexture(image.texture, isWhole: Photo.limited(ratio) != ratio)
        if let index, let photo { grid?.measure(index, photo, ratio: ratio) }
    }

    /// Sets the position in the list of photos for screen readers.
    func setPosition(_ position: Int, of count: Int) {
        guard self.position != (position, count) else { return }
        self.position = (position, count)
        button.setAccessiblePosition(position, of: count)
    }

    func setSelected(_ isSelected: Bool) {
        guard selectionIcon.isVisible != isSelected else { return }
        selectionIcon.isVisible = isSelected
        button.setClass("selected", isSelected)
        button.setAccessibleSelected(isSelected)
    }

    /// Shows the current state of the same photo.
    func update(_ photo: Photo) {
        guard photo != self.photo else { return }
        self.photo = photo
        button.setAccessibleName(photo.listName)
        likeButton.showLike(of: photo)
        animationLabel.isVisible = photo.isAnimated
        // Translators: “Like” or “Unlike”, and the photo, for screen readers.
        likeButton.setAccessibleName(
            tr("{action} {photo}", ["action": likeButton.tooltip, "photo": photo.accessibleName]))
        facts.text = photo.facts
        updateVisibility()
    }

    private func updateVisibility() {
        guard let photo else { return }
        likeButton.isVisible = !photo.isFile && (!isSmall || photo.wantsLike || photo.isPending)
        facts.isVisible = !isSmall && !photo.facts.isEmpty
    }

    /// Forgets a failure, so that the image is requested when the photo is shown again.
    func forgetFailure() { if failureIcon.isVisible, !isRefused { key = nil } }

    /// Releases the photo.
    func clear() {
        index = nil
        key = nil
        photo = nil
        setSelected(false)
        task = nil
        picture.setTexture(nil)
    }
}

extension Button {
    /// Shows the state of the user's like, by the icon and the tooltip.
    func showLike(of photo: Photo) {
        let title =
            switch (photo.wantsLike, photo.isPending) {
            case (true, false): tr("Unlike")
            case (true, true): tr("Unlike (the like is not confirmed yet)")
            case (false, false): tr("Like")
            case (false, true): tr("Like (the removal is not confirmed yet)")
            }
        setIcon(
            photo.wantsLike ? "emote-love-symbolic" : "org.imagefeed.Viewer.like-symbolic",
            orElse: "emote-love-symbolic", tooltip: title)
        setClass("liked", photo.wantsLike)
        setClass("pending", photo.isPending)
    }
}
