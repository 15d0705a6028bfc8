internal import Configuration
internal import Contract
internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// The downloads of this window, with the bar that shows their progress.
final class Downloads {
    let bar: Revealer
    var isRunning: Bool { !tasks.isEmpty }

    private let service: Service
    private let toasts: ToastArea
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var lastID = 0
    private let label = Label().ellipsizing()
    private let progressBar = ProgressBar()

    init(_ service: Service, _ toasts: ToastArea) {
        self.service = service
        self.toasts = toasts
        let cancel = Button(tr("_Cancel"))
        let texts = Box(.vertical, spacing: 4, label, progressBar)
            .expanding(vertically: false).aligned(.fill, .center)
        let box = Box(.horizontal, spacing: 12, texts, cancel).styled("osd", "download-bar")
        progressBar.setAccessibleName(tr("Progress of the download"))
        bar = Revealer(box).aligned(.fill, .end)
        cancel.onClick { [weak self] in self?.cancelAll() }
    }

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
        if name.isEmpty { name = tr("Photo") }
        let format = ImageFormat(mediaType: photo.mediaType) ?? .jpeg
        return "\(name).\(format.fileExtension)"
    }

    /// Starts a download into the pictures folder, or to a path that the user chose.
    func start(_ photo: Photo, in feed: Feed, to path: String? = nil) {
        lastID += 1
        let id = lastID
        let name = Self.name(photo)
        tasks[id] = Task {
            let message = await download(name, photo, feed, path)
            tasks[id] = nil
            bar.isRevealed = isRunning
            toasts.show(message)
        }
        bar.isRevealed = true
        show(name, TransferProgress())
    }

    /// Downloads a photo, and returns a sentence about the result.
    private func download(
        _ name: String, _ photo: Photo, _ feed: Feed, _ path: String?
    ) async -> String {
        let cancelled = tr("The download was cancelled.")
        do {
            // The disk may be slow.
            let file = try await DispatchQueue.global().run {
                if let path { return try DownloadFile(at: PathBytes(path), .replace) }
                let folder = Self.folder
                _ = folder.withCString { mkdir($0, 0o755) }
                return try DownloadFile(
                    at: folder.appending(PathBytes(name)), .number, isNamedByContent: true)
            }
            defer { file.discard() }
            // The daemon completes a call that it received, also of a cancelled task.
            let transfer = service.client.transfer(
                try await Task { try await feed.client.download(photo.id, to: file.descriptor) }
                    .value)
            try await withTaskCancellationHandler {
                try await transfer.wait { [weak self] in self?.show(name, $0) }
            } onCancel: {
                // A transfer that has ended cannot be cancelled.
                Task { @MainActor in try? await transfer.cancel() }
            }
            let path = try await DispatchQueue.global().run { try file.finish() }
            return tr("Downloaded to {file}", ["file": path.text])
        } catch is CancellationError {
            return cancelled
        } catch let error as DownloadFileError {
            return "\(error)"
        } catch {
            let problem = Problem(error)
            return problem.kind == .cancelled ? cancelled : problem.sentence
        }
    }

    func cancelAll() { for task in tasks.values { task.cancel() } }

    /// Shows the progress of a download. If there are several, it is that of the last change.
    private func show(_ name: String, _ progress: TransferProgress) {
        label.text = tr("Downloading {file}", ["file": name])
        if progress.total > 0 {
            progressBar.set(min(1, Double(progress.received) / Double(progress.total)))
        } else {
            progressBar.pulse()
        }
    }
}
