internal import DBus
internal import System
internal import Toolkit

/// One photo in the grid. The grid shows different photos in it while the user scrolls.
final class PhotoCell {
    let widget: Overlay
    /// The index of the photo; nil if the cell is not in use.
    private(set) var index: Int?
    var onOpen: ((Int) -> Void)?
    var onLike: ((Int) -> Void)?
    /// Called when the image of the photo is shown.
    var onImage: (() -> Void)?
    /// True if the image of the photo is shown, not only its placeholder.
    private(set) var hasImage = false

    private let picture = Picture()
    private let button: Button
    private let failureIcon = Icon("image-missing-symbolic", size: 32)
    private let likeButton = Button(icon: "emote-love-symbolic", tooltip: "Like")
    private let loader: ImageLoader
    private var task: Task<Void, Never>?
    private var key: ImageLoader.Key?
    private var photo: Photo?
    private lazy var openTimer = MainLoopTimer { [weak self] in
        guard let self, let index else { return }
        onOpen?(index)
    }

    init(_ loader: ImageLoader) {
        self.loader = loader
        button = Button(child: picture)
        button.styled("flat", "photo")
        likeButton.styled("circular", "osd", "like").aligned(.end, .end).margins(6)
        failureIcon.aligned(.center, .center)
        failureIcon.receivesPointer = false
        widget = Overlay(button, failureIcon, likeButton)
        button.onClick { [weak self] in self?.clicked() }
        likeButton.onClick { [weak self] in
            guard let self, let index else { return }
            onLike?(index)
        }
    }

    /// Opens the photo unless a second click follows, which likes it.
    private func clicked() {
        guard let index else { return }
        if openTimer.isRunning {
            openTimer.cancel()
            onLike?(index)
        } else {
            openTimer.start(after: .milliseconds(250))
        }
    }

    var hasFocus: Bool { widget.hasFocusWithin }
    func grabFocus() { button.grabFocus() }
    var hasOpenFocus: Bool { button.hasFocusWithin }

    /// Shows a photo.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - index: Its position in the feed.
    ///   - account: The account or the combined account of the feed.
    ///   - width: The size of the cell in pixels of the screen.
    ///   - height: The size of the cell in pixels of the screen.
    func show(_ photo: Photo, index: Int, account: ObjectPath, width: Int, height: Int) {
        if self.photo?.id != photo.id { openTimer.cancel() }
        self.index = index
        update(photo)
        // Some steps, so that small changes of the window's width do not load everything again.
        let size = max(width, height) > 420 ? "regular" : "small"
        let step = 64
        let key = ImageLoader.Key(
            account: account, photo: photo.id, size: size, width: (width + step - 1) / step * step,
            height: (height + step - 1) / step * step)
        guard key != self.key else { return }
        let isSamePhoto = self.key?.photo == key.photo && self.key?.account == account
        self.key = key
        task?.cancel()
        task = nil
        failureIcon.isVisible = false
        if let texture = loader.cached(key) { return show(texture) }
        hasImage = false
        if !isSamePhoto { picture.texture = Placeholder.texture(photo) }
        task = Task { [weak self, loader] in
            do {
                let texture = try await loader.load(key)
                guard let self, self.key == key else { return }
                show(texture)
            } catch {
                guard let self, self.key == key, !(error is CancellationError) else { return }
                failureIcon.isVisible = true
                button.tooltip = Problem(error).sentence
            }
        }
    }

    private func show(_ texture: Texture) {
        picture.texture = texture
        hasImage = true
        onImage?()
    }

    /// Shows the current state of the same photo.
    func update(_ photo: Photo) {
        self.photo = photo
        button.setAccessibleName(photo.accessibleName)
        button.tooltip = photo.accessibleName
        let name =
            switch (photo.wantsLike, photo.isPending) {
            case (true, false): "Unlike"
            case (true, true): "Unlike (the like is not confirmed yet)"
            case (false, false): "Like"
            case (false, true): "Like (the removal is not confirmed yet)"
            }
        likeButton.tooltip = name
        likeButton.setAccessibleName(name)
        likeButton.setClass("liked", photo.wantsLike)
        likeButton.setClass("pending", photo.isPending)
    }

    /// Forgets a failure, so that the image is requested when the photo is shown again.
    func forgetFailure() {
        if failureIcon.isVisible { key = nil }
    }

    /// Releases the photo.
    func clear() {
        index = nil
        key = nil
        photo = nil
        task?.cancel()
        task = nil
        openTimer.cancel()
        picture.texture = nil
        hasImage = false
    }
}
