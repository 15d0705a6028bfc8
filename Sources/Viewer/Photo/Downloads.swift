internal import BusAPI
internal import Configuration
internal import DBus
internal import Dispatch
internal import Glibc
internal import System

/// The downloads of this window.
final class Downloads {
    struct Progress {
        let id: Int
        let name: String
        let received: UInt64
        /// 0 if unknown.
        let total: UInt64
    }

    /// Emitted with a sentence when a download ended.
    let finished = Event<String>()
    let changed = Event<Void>()
    private(set) var current: Progress?
    var isRunning: Bool { !transfers.isEmpty }

    private let service: Service
    /// The running downloads; nil until the daemon has begun the transfer.
    private var transfers: [Int: TransferClient?] = [:]
    /// The downloads that the user cancelled before the transfer began.
    private var cancelled: Set<Int> = []
    private var lastID = 0

    init(_ service: Service) { self.service = service }

    /// The folder for downloads: the pictures folder of the user.
    nonisolated static var folder: PathBytes {
        PathBytes(bytes: UserFolders(environment: [:]).pictures)
    }

    /// Returns a file name without the characters that have a meaning in paths.
    static func name(_ photo: Photo) -> String {
        let title = photo.title.isEmpty ? photo.id : photo.title
        let plain = title.unicodeScalars.map {
            $0 == "/" || $0.value < 32 || $0.value == 127 ? "-" : Character($0)
        }
        var name = String(plain.drop { ".- ".contains($0) }.prefix(80))
        // The limit of names is 255 bytes.
        while name.utf8.count > 200 { name.removeLast() }
        if name.isEmpty { name = "Photo" }
        return "\(name).\(DownloadFile.nameExtensions[photo.mediaType] ?? "jpg")"
    }

    /// Starts a download into the pictures folder, or to a path that the user chose.
    func start(_ photo: Photo, in feed: Feed, to path: String? = nil) {
        lastID += 1
        let id = lastID
        transfers[id] = .some(nil)
        let name = Self.name(photo)
        current = Progress(id: id, name: name, received: 0, total: 0)
        changed.emit()
        Task {
            do {
                // The disk may be slow.
                let file = try await DispatchQueue.global().run {
                    if let path { return try DownloadFile(at: PathBytes(path), .replace) }
                    return try Self.newFile(name)
                }
                defer { file.discard() }
                try await run(id, name, photo, feed, file.descriptor)
                let path = try await DispatchQueue.global().run { try file.finish() }
                finish(id, "Downloaded to \(path.text)")
            } catch is CancellationError {
                finish(id, Self.cancelledMessage)
            } catch let error as DownloadFileError {
                finish(id, "\(error)")
            } catch {
                let problem = Problem(error)
                finish(
                    id, problem.kind == .cancelled ? Self.cancelledMessage : problem.sentence)
            }
        }
    }

    /// Creates a file in the folder for downloads.
    private nonisolated static func newFile(
        _ name: String
    ) throws(DownloadFileError) -> DownloadFile {
        let folder = folder
        _ = folder.withCString { mkdir($0, 0o755) }
        return try DownloadFile(
            at: folder.appending(PathBytes(name)), .number, isNamedByContent: true)
    }

    private static let cancelledMessage = "The download was cancelled."

    private func run(
        _ id: Int, _ name: String, _ photo: Photo, _ feed: Feed, _ file: FileDescriptor
    ) async throws {
        let transfer = service.client.transfer(try await feed.client.download(photo.id, to: file))
        if cancelled.contains(id) {
            // A transfer that has ended cannot be cancelled.
            try? await transfer.cancel()
            throw CancellationError()
        }
        transfers[id] = transfer
        var received: UInt64 = 0
        var total: UInt64 = 0
        let apply: ([String: Variant]) -> Void = { [weak self] properties in
            if case .uint64(let value) = properties["Received"] { received = value }
            if case .uint64(let value) = properties["Total"] { total = value }
            self?.current = Progress(id: id, name: name, received: received, total: total)
            self?.changed.emit()
        }
        let watch = try await transfer.watch(apply)
        apply(try await transfer.properties())
        try await transfer.wait()
        withExtendedLifetime(watch) {}
    }

    private func finish(_ id: Int, _ message: String) {
        transfers[id] = nil
        cancelled.remove(id)
        if current?.id == id { current = nil }
        changed.emit()
        finished.emit(message)
    }

    func cancelAll() {
        for (id, transfer) in transfers {
            guard let transfer else {
                cancelled.insert(id)
                continue
            }
            // A transfer that has ended cannot be cancelled.
            Task { try? await transfer.cancel() }
        }
    }
}
