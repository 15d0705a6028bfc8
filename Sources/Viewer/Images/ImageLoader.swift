internal import BusAPI
internal import DBus
internal import Toolkit

/// The images of photos: requested with `OpenImage` and decoded on other threads.
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
    private let threads = WorkerThreads(maximum: 2)
    private var cache = TextureCache<Key, Texture>(limitBytes: 24 << 20)
    private var running = 0
    /// The requests that have not been sent, the newest last.
    private var waiting: [(id: Int, resume: (Bool) -> Void)] = []
    private var lastID = 0

    /// The number of images that are requested from the daemon at the same time.
    private static let mostRunning = 6

    init(_ service: Service) { self.service = service }

    func cached(_ key: Key) -> Texture? { cache.value(key) }

    /// Returns an image. The most recent request comes first.
    ///
    /// - Parameters:
    ///   - key: The image.
    ///   - isKept: True to keep the image for later requests.
    /// - Returns: The image.
    /// - Throws: ``BusError``, ``ImageError`` and `CancellationError`.
    func load(_ key: Key, isKept: Bool = true) async throws -> Texture {
        if let texture = cache.value(key) { return texture }
        guard await waitForTurn() else { throw CancellationError() }
        defer { finishTurn() }
        try Task.checkCancellation()
        // The daemon completes a request that it received. If a cancelled task passed its turn on before the reply, fast
        // scrolling would send hundreds of requests, and the visible photos would be the last ones.
        let client = service.client.account(key.account)
        let file = try await Task { try await client.openImage(key.photo, size: key.size) }.value
        try Task.checkCancellation()
        let result = await threads.run { () -> Result<Texture, ImageError> in
            do throws(ImageError) {
                return .success(
                    try ImageDecoder.decode(
                        descriptor: file.rawValue, width: key.width, height: key.height))
            } catch {
                return .failure(error)
            }
        }
        let texture = try result.get()
        if isKept { cache.insert(texture, key, byteCount: texture.byteCount) }
        return texture
    }

    /// Decodes a local file, such as an avatar.
    func file(_ path: String, size: Int) async -> Texture? {
        await threads.run {
            guard let file = FileDescriptor.opening(path) else { return nil }
            return try? ImageDecoder.decode(descriptor: file.rawValue, width: size, height: size)
        }
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
