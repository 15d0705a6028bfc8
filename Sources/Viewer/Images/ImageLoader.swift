internal import Contract
internal import DBus
internal import Dispatch
internal import Glibc
internal import ImageClient
internal import ImageMetadata
internal import Logging
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// A decoded image.
nonisolated struct LoadedImage: Sendable {
    let texture: Texture
    /// The size of the image in the file, upright.
    let fullWidth, fullHeight: Int
}

/// The images of photos: requested with `OpenImage` and decoded in the image helper.
final class ImageLoader {
    nonisolated struct Key: Equatable, Sendable {
        let account: ObjectPath
        let photo: String
        /// A size of the D-Bus contract.
        let size: String
        /// The largest width and height in pixels.
        let width, height: Int
    }

    private let client: ServiceClient
    /// All windows share one helper process.
    private static let helper = ImageHelperClient(
        program: CurrentProcess.path(ofProgram: "imagefeed-image-helper"),
        logger: Logger(label: "images"))
    private static let files = DispatchQueue(label: "images")
    private var cache = TextureCache<Key, LoadedImage>(limitBytes: 24 << 20)
    private var running = 0
    /// The requests that have not been sent, the newest last.
    private var waiting: [OneShotResult<Void, any Error>] = []

    /// The number of images that are requested from the daemon at the same time.
    private static let mostRunning = 6

    init(_ client: ServiceClient) { self.client = client }

    func cached(_ key: Key) -> LoadedImage? { cache.value(key) }

    /// Returns the largest image of a photo that is kept; nil if there is none.
    func cached(_ photo: String, of account: ObjectPath) -> LoadedImage? {
        cache.values { $0.photo == photo && $0.account == account }
            .max { $0.texture.width < $1.texture.width }
    }

    /// Returns an image. The most recent request comes first.
    ///
    /// - Parameters:
    ///   - key: The image.
    ///   - isKept: True to keep the image for later requests.
    /// - Returns: The image.
    /// - Throws: ``BusError``, ``ImageProcessorError`` and `CancellationError`.
    func load(_ key: Key, isKept: Bool = true) async throws -> LoadedImage {
        if let image = cache.value(key) { return image }
        try await waitForTurn()
        defer { finishTurn() }
        try Task.checkCancellation()
        // The daemon completes a request that it received. If a cancelled task passed its turn on before the reply, fast
        // scrolling would send hundreds of requests, and the visible photos would be the last ones.
        let client = client.account(key.account)
        let file = try await Task { try await Self.open(key.photo, size: key.size, of: client) }
            .value
        try Task.checkCancellation()
        let pixels = try await Self.helper.pixels(
            of: file.rawValue, width: key.width, height: key.height)
        let texture = Texture(
            width: pixels.width, height: pixels.height, bytes: pixels.bytes, owner: pixels)
        let image = LoadedImage(
            texture: texture, fullWidth: pixels.fullWidth, fullHeight: pixels.fullHeight)
        if isKept { cache.insert(image, key, byteCount: image.texture.byteCount) }
        return image
    }

    /// Opens the image of a photo of an account, or a file without an account.
    static func open(
        _ photo: String, size: String, of client: AccountClient
    ) async throws -> FileDescriptor {
        if client.path != ServiceName.root { return try await client.openImage(photo, size: size) }
        let file = await files.run {
            Glibc.open(photo, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        }
        let error = ImageProcessorError.notReadable(Message("The file cannot be read."))
        guard file >= 0 else { throw error }
        return FileDescriptor(owning: file)
    }

    /// Returns the properties of an image file; nil if they cannot be read.
    static func facts(of path: String) async -> ImageFacts? {
        try? await helper.probe(Array(path.utf8), inBackground: false)
    }

    private func waitForTurn() async throws {
        if running < Self.mostRunning {
            running += 1
            return
        }
        let turn = OneShotResult<Void, any Error>()
        waiting.append(turn)
        try await turn.valueUnlessCancelled()
    }

    private func finishTurn() {
        // The turn passes to the newest request that was not cancelled.
        while let next = waiting.popLast() {
            if next.complete(.success(())) { return }
        }
        running -= 1
    }
}

/// The largest size of an image in pixels that a view needs at its zoom.
nonisolated struct ImageLimits: Equatable {
    let width, height: Int
    let isZoomed: Bool

    /// The largest number of pixels of an image in memory.
    private static let mostPixels = 64.0 * 1_000_000
    private static let longestSide = 65_535.0

    /// Creates the limits for a view. Zoomed images have some steps, so that not every change decodes another one.
    init(_ transform: PhotoTransform) {
        isZoomed = transform.isZoomed
        let step = isZoomed ? exp2(log2(transform.zoom).rounded(.up)) : 1
        var width = transform.viewSize.x * transform.pixelsPerUnit * step
        var height = transform.viewSize.y * transform.pixelsPerUnit * step
        let isTurned = (transform.degrees / 90).rounded().truncatingRemainder(dividingBy: 2) != 0
        if isTurned { swap(&width, &height) }
        let excess = max(1, width * height / Self.mostPixels).squareRoot()
        self.width = Int(min(max(1, width / excess), Self.longestSide))
        self.height = Int(min(max(1, height / excess), Self.longestSide))
    }

    func contain(_ other: ImageLimits) -> Bool { other.width <= width && other.height <= height }

    /// Compares an image with the pixels that the view needs. A whole photo has exactly these pixels, so that it is not
    /// scaled again.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - photo: The size of the photo in its own pixels; nil if it is unknown.
    /// - Returns: True if the image is sufficient.
    func areMet(by image: LoadedImage, _ photo: (width: Int, height: Int)?) -> Bool {
        // A smaller image of a service may be all that is known.
        let photo = photo ?? (image.fullWidth, image.fullHeight)
        let scale = min(
            1, Double(width) / Double(photo.width), Double(height) / Double(photo.height))
        let missing = Double(photo.width) * scale - Double(image.texture.width)
        return isZoomed ? missing <= 1 : abs(missing) <= 1
    }
}

/// The decoded images that were used last, up to a number of bytes.
nonisolated struct TextureCache<Key: Equatable & Sendable, Value> {
    /// The image that was used last is at the end.
    private var entries: [(key: Key, value: Value, byteCount: Int)] = []
    private let limitBytes: Int

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

    mutating func value(_ key: Key) -> Value? {
        guard let index = entries.lastIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: index)
        entries.append(entry)
        return entry.value
    }

    /// Returns the images whose key meets a condition.
    func values(where isWanted: (Key) -> Bool) -> [Value] {
        entries.filter { isWanted($0.key) }.map(\.value)
    }

    mutating func insert(_ value: Value, _ key: Key, byteCount: Int) {
        entries.removeAll { $0.key == key }
        entries.append((key, value, byteCount))
        while self.byteCount > limitBytes, entries.count > 1 { entries.removeFirst() }
    }
}

extension Photo {
    /// The image that stands for the photo until its own is there: the blur hash or the color as a small image; nil if the
    /// photo has neither.
    var placeholder: Texture? {
        if let text = photo.blurHash, let hash = BlurHash(text) {
            let width = 24
            let height = max(8, min(48, Int((Double(width) / ratio).rounded())))
            return Texture(
                width: width, height: height, rgb: hash.pixels(width: width, height: height))
        }
        guard let color = photo.color, color.hasPrefix("#"), color.utf8.count == 7,
            let value = UInt32(color.dropFirst(), radix: 16)
        else { return nil }
        return Texture(
            width: 1, height: 1,
            rgb: [UInt8(value >> 16), UInt8(value >> 8 & 255), UInt8(value & 255)])
    }
}
