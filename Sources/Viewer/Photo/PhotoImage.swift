internal import Contract
internal import ImageMetadata
internal import Toolkit
internal import Translation

/// The image of the photo that a page shows: the largest one at hand, and then one for the pixels of the view.
final class PhotoImage {
    let view = PhotoView()
    let spinner = Spinner(size: 48).aligned(.center, .center)
    /// The reason why there is no sharp image.
    let problemBox: Box

    private let problemLabel = Label().wrapping(atStart: false)
    private let loader: ImageLoader
    private let isLocal: (Photo) -> Bool
    /// The feed of the photo that is shown; nil if none is shown.
    private(set) var feed: Feed?
    private(set) var photoID = ""
    var photo: Photo? { feed?.photo(photoID) }
    /// Loads the image. Another task, or none, cancels it.
    private var task: Task<Void, Never>? { didSet { oldValue?.cancel() } }
    /// Load the images of the neighbors. Other tasks cancel them.
    private var preloads: [Task<Void, Never>] = [] { didSet { oldValue.forEach { $0.cancel() } } }
    /// The image that is shown.
    private var shown: LoadedImage?
    /// The image for the whole photo, which replaces a larger one after a zoom.
    private var whole: LoadedImage?
    /// The limits of the last image that was loaded completely.
    private var loadedLimits: ImageLimits?
    /// True if the image cannot be decoded.
    private var isRefused = false
    /// The images of the neighbors, by the ID of the photo.
    private var preloaded: [String: LoadedImage] = [:]

    /// - Parameters:
    ///   - loader: The source of images.
    ///   - isLocal: Returns true for a photo on this computer.
    init(_ loader: ImageLoader, isLocal: @escaping (Photo) -> Bool) {
        self.loader = loader
        self.isLocal = isLocal
        let retry = Button(tr("_Try again")).aligned(.center, .center).styled("pill")
        problemBox = Box(.vertical, spacing: 12, problemLabel, retry)
            .aligned(.center, .center).margins(24).styled("osd", "problem")
        problemBox.isVisible = false
        spinner.setTargetable(false)
        retry.onClick { [weak self] in self?.load() }
        view.onZoom = { [weak self] in self?.loadSharp() }
        view.onResize = { [weak self] in Task { self?.loadSharp() } }
    }

    /// True until an image is shown, or the reason why there is none.
    var isLoading: Bool { spinner.isVisible }

    func show(_ photo: Photo, in feed: Feed) {
        adopt(feed, photo.id)
        load()
    }

    /// Continues in another feed that contains the photo, with the ID that the photo has there.
    func adopt(_ feed: Feed, _ photo: String) {
        self.feed = feed
        photoID = photo
    }

    /// Repeats a failed request, unless it would fail in the same way.
    func retry() { if problemBox.isVisible, !isRefused { load() } }

    /// Releases the images, which would stay in memory.
    func clear() {
        task = nil
        preloads = []
        preloaded = [:]
        shown = nil
        whole = nil
        feed = nil
        photoID = ""
        view.clear()
    }

    /// Shows the largest image at hand, and replaces it by one for the pixels of the view.
    private func load() {
        guard let photo, let feed else { return }
        task = nil
        isRefused = false
        loadedLimits = nil
        shown = nil
        whole = nil
        problemBox.isVisible = false
        if let image = preloaded[photo.id] ?? loader.cached(photo.id, of: feed.account) {
            show(image)
        } else {
            view.show(nil, isSamePhoto: false)
            spinner.isVisible = true
        }
        loadSharp()
    }

    /// Loads the image for the pixels that the photo has on the screen, unless it is shown.
    private func loadSharp() {
        guard !isRefused, view.widget.width > 0, let photo, let feed else { return }
        let limits = ImageLimits(view.target)
        if !limits.isZoomed, let whole, limits.areMet(by: whole, photo.size) {
            task = nil
            if shown?.texture !== whole.texture { show(whole) }
            return finish(limits)
        }
        guard task == nil else { return }
        if let loadedLimits, loadedLimits.contain(limits) { return }
        if let shown, limits.areMet(by: shown, photo.size) { return finish(limits) }
        // The size regular of a service may be sufficient, and is smaller to transfer.
        let sizes = isLocal(photo) || limits.isZoomed ? ["full"] : ["regular", "full"]
        let isFirst = shown == nil
        task = Task { [weak self, loader] in
            do {
                if isFirst, sizes == ["full"], !photo.isFile {
                    let key = Self.key(feed, photo, "small", 512, 512)
                    // Without the small image, the sharp one is the first.
                    if let image = try? await loader.load(key), !Task.isCancelled {
                        self?.show(image)
                    }
                }
                for size in sizes {
                    let key = Self.key(feed, photo, size, limits.width, limits.height)
                    let image = try await loader.load(key, isKept: false)
                    guard let self, !Task.isCancelled else { return }
                    show(image)
                    if limits.areMet(by: image, photo.size) { break }
                }
                guard let self else { return }
                task = nil
                finish(limits)
                // The zoom may have changed.
                loadSharp()
            } catch {
                guard let self, !Task.isCancelled, !(error is CancellationError) else { return }
                task = nil
                fail(error)
            }
        }
    }

    private static func key(
        _ feed: Feed, _ photo: Photo, _ size: String, _ width: Int, _ height: Int
    ) -> ImageLoader.Key {
        ImageLoader.Key(
            account: feed.account, photo: photo.id, size: size, width: width, height: height)
    }

    private func finish(_ limits: ImageLimits) {
        loadedLimits = limits
        if !limits.isZoomed { whole = shown }
        preloadNeighbors()
    }

    /// Shows why there is no sharp image. An image that cannot be decoded is not shown in another size, either.
    private func fail(_ error: any Error) {
        spinner.isVisible = false
        if error is ImageProcessorError {
            isRefused = true
            shown = nil
            view.show(nil, isSamePhoto: true)
        }
        problemLabel.text = Problem(error).sentence
        problemBox.isVisible = true
    }

    private func show(_ image: LoadedImage) {
        spinner.isVisible = false
        problemBox.isVisible = false
        let isSamePhoto = shown != nil
        shown = image
        var size = (width: image.fullWidth, height: image.fullHeight)
        // The image may be a smaller one of the service.
        if let whole = photo?.size, whole.width >= size.width { size = whole }
        view.show(image.texture, size: size, isSamePhoto: isSamePhoto)
    }

    /// Loads the images of the next and the previous photo for the whole view.
    private func preloadNeighbors() {
        guard let feed, let index = feed.index(of: photoID), !view.target.isZoomed else { return }
        let neighbors = [1, -1].map { index + $0 }.filter { feed.photos.indices.contains($0) }
            .map { feed.photos[$0] }
        let limits = ImageLimits(view.target)
        preloaded = preloaded.filter { entry in neighbors.contains { $0.id == entry.key } }
        preloads = neighbors.filter { preloaded[$0.id] == nil }.map { photo in
            let size = isLocal(photo) ? "full" : "regular"
            let key = Self.key(feed, photo, size, limits.width, limits.height)
            return Task { [weak self, loader] in
                let image = try? await loader.load(key, isKept: false)
                if let self, let image, !Task.isCancelled { preloaded[photo.id] = image }
            }
        }
    }
}
