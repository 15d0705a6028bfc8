internal import CGLib
internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Storage
internal import Synchronization
internal import System
internal import Translation

/// Small images of photos in the folder that the programs of a desktop share. Existing thumbnails are used, missing
/// ones are created.
///
/// Source: Thumbnail Managing Standard 0.9 (freedesktop.org).
final class Thumbnails: Sendable {
    /// A size of the standard.
    struct Size: Sendable {
        let folder: String
        /// The maximum width and height of a thumbnail.
        let pixels: Int

        /// Returns the size of the thumbnail for an image size; nil if the photo is used.
        init?(_ size: ImageSize) {
            switch size {
            case .thumb: (folder, pixels) = ("large", 256)
            case .small: (folder, pixels) = ("x-large", 512)
            case .regular: (folder, pixels) = ("xx-large", 1024)
            case .full: return nil
            }
        }
    }

    /// The properties of a photo that its thumbnails contain.
    private struct Original: Sendable {
        let uri: String
        let modified: Int64
        let bytes: Int64

        /// The texts in a thumbnail. If the URI or the time differs, the thumbnail belongs to another file, or to
        /// another version of it.
        var texts: [String: String] {
            [
                "Thumb::URI": uri, "Thumb::MTime": "\(modified)", "Thumb::Size": "\(bytes)",
                "Software": "Image Feed",
            ]
        }

        var name: String { checksum(uri, G_CHECKSUM_MD5).map { "\($0).png" } ?? "" }

        /// Returns true if a thumbnail with these texts belongs to the photo.
        func matches(_ texts: [String: String]) -> Bool {
            texts["Thumb::URI"] == uri && texts["Thumb::MTime"] == "\(modified)"
                && texts["Thumb::Size"].map { $0 == "\(bytes)" } ?? true
        }
    }

    private let folder: String
    private let failureFolder: String
    private let images: any ImageProcessor
    private let photos: FileThreads
    private let files = DispatchQueue(label: "thumbnails")
    /// The thumbnails being created, so that concurrent requests share one task.
    private let running = Mutex<[String: Task<Void, any Error>]>([:])

    /// - Parameters:
    ///   - folder: The folder that programs share, `~/.cache/thumbnails`.
    ///   - version: The version of Image Feed. Another version retries photos that failed.
    ///   - images: Creates the thumbnails.
    ///   - photos: Makes the file system calls for photos.
    init(folder: String, version: String, images: any ImageProcessor, photos: FileThreads) {
        self.folder = folder
        failureFolder = "\(folder)/fail/imagefeed-\(version)"
        self.images = images
        self.photos = photos
    }

    /// Returns the path of a thumbnail, which is created if it is missing.
    ///
    /// - Parameters:
    ///   - file: The absolute path of the photo.
    ///   - known: The stamp in the index. If the file does not respond, a thumbnail that matches this stamp is used.
    ///   - size: The size of the thumbnail.
    /// - Returns: The path. Other programs may delete the file.
    /// - Throws: `ProviderError`; ``ProviderError/notFound(_:)`` if the photo does not exist.
    func path(of file: [UInt8], _ known: FileStamp, _ size: Size) async throws -> String {
        // No thumbnail is created for a photo in the thumbnails folder.
        if file.starts(with: Array("\(folder)/".utf8)),
            let path = String(validating: file, as: UTF8.self)
        {
            return path
        }
        var stamp = known
        var fault: ProviderError?
        switch await photos.run(file, { FileStatus.lookUp(file, $0) }) {
        case .found(let status) where status.kind == .file: stamp = status.stamp
        case .found, .absent: throw Self.absent
        case .unavailable(let code):
            let reason = String(cString: strerror(code))
            fault = .failed(
                Message("The file of the photo cannot be read: {reason}.", ["reason": reason]))
        case nil: fault = PictureFolder.noResponse
        }
        guard let original = Self.original(file, stamp) else { throw fault ?? Self.absent }
        let path = "\(folder)/\(size.folder)/\(original.name)"
        if await files.run({ Self.texts(path, of: original) }) != nil { return path }
        if let fault { throw fault }
        let task = running.withLock { running in
            if let task = running[path] { return task }
            let task = Task { @MainActor in
                defer { self.running.withLock { $0[path] = nil } }
                try await self.make(path, size, file, original)
            }
            running[path] = task
            return task
        }
        try await task.value
        return path
    }

    /// Opens a thumbnail for reading. The caller closes the descriptor.
    ///
    /// - Throws: The errors of ``path(of:_:_:)``.
    func open(_ file: [UInt8], _ known: FileStamp, _ size: Size) async throws -> Int32 {
        // Another program may delete the file after it was created. Three deletions in succession are unlikely.
        for _ in 0..<3 {
            let path = try await path(of: file, known, size)
            let descriptor = await files.run { Glibc.open(path, O_RDONLY | O_CLOEXEC) }
            if descriptor >= 0 { return descriptor }
        }
        throw ProviderError.failed(Message("The image could not be opened; try again."))
    }

    private static let absent = ProviderError.notFound(
        Message("The photo does not exist any more."))

    private func make(
        _ path: String, _ size: Size, _ photo: [UInt8], _ original: Original
    ) async throws {
        // A concurrent call may have created it meanwhile.
        if await files.run({ Self.texts(path, of: original) }) != nil { return }
        let failure = "\(failureFolder)/\(original.name)"
        if let texts = await files.run({ Self.texts(failure, of: original) }) {
            let isTooLarge = texts[Self.tooLarge.key] == Self.tooLarge.text
            throw (isTooLarge ? ImageProcessorError.tooLarge : .damaged).providerError
        }
        try await files.run { try Self.createFolder(self.folder, size.folder) }
        do {
            try await images.make(
                .scaled(pixels: size.pixels, texts: original.texts), from: photo, to: path)
        } catch {
            if [.damaged, .tooLarge].contains(error) {
                await files.run { self.recordFailure(failure, original, error) }
            }
            throw error.providerError
        }
    }

    // MARK: Files

    private static func original(_ path: [UInt8], _ stamp: FileStamp) -> Original? {
        guard let uri = withCPath(path, { g_filename_to_uri($0, nil, nil) }) else { return nil }
        defer { g_free(uri) }
        return Original(
            uri: String(cString: uri),
            modified: Timestamp(nanoseconds: stamp.modified).secondsSince1970,
            bytes: stamp.sizeBytes)
    }

    /// Returns the texts in a thumbnail, or in the record of a failure; nil if there is none, or if the photo has changed
    /// since.
    private static func texts(_ path: String, of original: Original) -> [String: String]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let texts = PNGFile.texts(FileBytes(descriptor: descriptor))
        return texts.flatMap { original.matches($0) ? $0 : nil }
    }

    /// The text that records that a photo was too large.
    private static let tooLarge = (key: "Comment", text: "too large")

    private static func createFolder(_ folder: String, _ name: String) throws {
        do throws(StorageError) {
            try PrivateFolder.create("\(folder)/\(name)")
        } catch .cannotOpen(let path, let reason) {
            throw StorageError.readOnly(path, reason)
        } catch {
            throw ProviderError(error)
        }
    }

    /// Records that a photo has no thumbnail, so that there is no other attempt until the photo changes.
    private func recordFailure(_ path: String, _ original: Original, _ reason: ImageProcessorError)
    {
        guard (try? PrivateFolder.create(failureFolder)) != nil else { return }
        var texts = original.texts
        if reason == .tooLarge { texts[Self.tooLarge.key] = Self.tooLarge.text }
        let bytes = PNGFile.plain(0, width: 1, height: 1, texts: texts)
        // Best effort: without the record, there is another attempt to create the thumbnail.
        try? AtomicFile.write(bytes, to: path, through: "\(path).part")
    }
}
