internal import Contract
internal import DBus
internal import Dispatch
internal import Glibc
internal import ImageClient
internal import Logging
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// A decoded image.
nonisolated struct LoadedImage: Sendable {
    let texture: Texture
    /// The size of the image in the file, upright.
    let fullWidth: Int
    let fullHeight: Int
}

/// The images of photos: requested with `OpenImage` and decoded in the image helper.
final class ImageLoader {
    nonisolated struct Key: Hashable, Sendable {
        let account: ObjectPath
        let photo: String
        /// A size of the D-Bus contract.
        let size: String
        /// The largest width and height in pixels.
        let width: Int
        let height: Int
    }

    private let service: Service
    /// All windows share one helper process.
    private static let helper = ImageHelperClient(
        program: HelperProgram.path("imagefeed-image-helper"), logger: Logger(label: "images"))
    private static let files = DispatchQueue(label: "images")
    private var cache = TextureCache<Key, LoadedImage>(limitBytes: 24 << 20)
    private var running = 0
    /// The requests that have not been sent, the newest last.
    private var waiting: [(id: Int, resume: (Bool) -> Void)] = []
    private var lastID = 0

    /// The number of images that are requested from the daemon at the same time.
    private static let mostRunning = 6

    init(_ service: Service) { self.service = service }

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
        guard await waitForTurn() else { throw CancellationError() }
        defer { finishTurn() }
        try Task.checkCancellation()
        // The daemon completes a request that it received. If a cancelled task passed its turn on before the reply, fast
        // scrolling would send hundreds of requests, and the visible photos would be the last ones.
        let client = service.client.account(key.account)
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
        try? await helper.probe(Array(path.utf8), urgency: .now)
    }

    private func waitForTurn() async -> Bool {
        if running < Self.mostRunning {
            running += 1
            return true
        }
        lastID += 1
        let id = lastID
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: false) }
                waiting.append((id, { continuation.resume(returning: $0) }))
            }
        } onCancel: {
            Task { @MainActor in self.cancel(id) }
        }
    }

    private func cancel(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).resume(false)
    }

    private func finishTurn() {
        // The turn passes to the newest request.
        if let next = waiting.popLast() { next.resume(true) } else { running -= 1 }
    }
}
