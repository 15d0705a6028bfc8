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
    /// A size of the standard: its folder, and the maximum width and height of a thumbnail.
    typealias Size = (folder: String, pixels: Int)

    /// Returns the size of the thumbnail for an image size; nil if the photo is used.
    static func size(_ size: ImageSize) -> Size? {
        switch size {
        case .thumb: ("large", 256)
        case .small: ("x-large", 512)
        case .regular: ("xx-large", 1024)
        case .full: nil
        }
    }

    /// The properties of a photo that its thumbnails contain.
    private struct Original: Sendable {
        let uri: String
        let stamp: FileStamp

        private var seconds: Int64 { Timestamp(nanoseconds: stamp.modified).secondsSince1970 }

        /// The texts in a thumbnail. If the URI or the time differs, the thumbnail belongs to another file, or to
        /// another version of it. Tumbler requires the microseconds of the time.
        var texts: [String: String] {
            let micros = (stamp.modified - seconds * 1_000_000_000) / 1000
            let fraction = micros == 0 ? "" : ".\(String(micros + 1_000_000).dropFirst())"
            return [
                "Thumb::URI": uri, "Thumb::MTime": "\(seconds)\(fraction)",
                "Thumb::Size": "\(stamp.sizeBytes)", "Software": "Image Feed",
            ]
        }

        /// True if the photo was last changed at least a minute ago. Otherwise, it may be incomplete.
        var isAtRest: Bool { abs(Timestamp.now.secondsSince1970 - seconds) >= 60 }

        var name: String { checksum(uri, G_CHECKSUM_MD5).map { "\($0).png" } ?? "" }

        /// Returns true if a thumbnail with these texts, which was written at a time, belongs to the photo. It may be older
        /// than a change that kept the size and the date of the photo. A change in the future has the time of another clock.
        func matches(_ texts: [String: String], written: Int64) -> Bool {
            // Tumbler writes times before 1970 as numbers without a sign, rounded to 2048 seconds.
            let time = texts["Thumb::MTime"]?.prefix { $0 != "." }
            let now = (Timestamp.now.secondsSince1970 + 1) * 1_000_000_000
            let unsigned = Double(UInt64(bitPattern: seconds))
            return texts["Thumb::URI"] == uri
                && (time.flatMap { Int64($0) } == seconds
                    || seconds < 0 && time.flatMap { Double($0) } == unsigned)
                && texts["Thumb::Size"].map { $0 == "\(stamp.sizeBytes)" } ?? true
                && (stamp.changed <= written || stamp.changed > now)
        }
    }

    /// The folder that programs share, and the one that is used if that cannot be written.
    private let folders: [String]
    private let failureFolder: String
    private let images: any ImageProcessor
    private let photos: FileThreads
    private let files = DispatchQueue(label: "thumbnails")
    /// The thumbnails being created, so that concurrent requests share one task.
    private let running = Mutex<[String: Task<String, any Error>]>([:])

    /// - Parameters:
    ///   - folder: The folder that programs share, `~/.cache/thumbnails`.
    ///   - ownFolder: The folder that is used if the other one cannot be written.
    ///   - version: The version of Image Feed. Another version retries photos that failed.
    ///   - images: Creates the thumbnails.
    ///   - photos: Makes the file system calls for photos.
    init(
        folder: String, ownFolder: String, version: String, images: any ImageProcessor,
        photos: FileThreads
    ) {
        folders = [folder, ownFolder]
        failureFolder = "fail/imagefeed-\(version)"
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
        if folders.contains(where: { file.starts(with: Array("\($0)/".utf8)) }),
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
        if let path = await find(original, size) { return path }
        if let fault { throw fault }
        let key = "\(size.folder)/\(original.name)"
        let task = running.withLock { running in
            if let task = running[key] { return task }
            let task = Task { @MainActor in
                defer { self.running.withLock { $0[key] = nil } }
                return try await self.make(size, file, original)
            }
            running[key] = task
            return task
        }
        return try await task.value
    }

    private func find(_ original: Original, _ size: Size) async -> String? {
        await files.run { [folders] in
            folders.map { "\($0)/\(size.folder)/\(original.name)" }
                .first { Self.texts($0, of: original) != nil }
        }
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

    private func make(_ size: Size, _ photo: [UInt8], _ original: Original) async throws -> String {
        // A concurrent call may have created it meanwhile.
        if let path = await find(original, size) { return path }
        let folder = try await files.run { [folders] in
            try folders.first { try Self.create("\($0)/\(size.folder)") }
        }
        guard let folder else { throw Self.unwritable }
        let path = "\(folder)/\(size.folder)/\(original.name)"
        let failure = "\(folder)/\(failureFolder)/\(original.name)"
        if let texts = await files.run({ Self.texts(failure, of: original) }) {
            let isTooLarge = texts[Self.tooLarge.key] == Self.tooLarge.text
            throw (isTooLarge ? ImageProcessorError.tooLarge : .damaged).providerError
        }
        let isAtRest = original.isAtRest
        do {
            try await images.make(
                .scaled(pixels: size.pixels, texts: original.texts), from: photo, to: path)
            return path
        } catch {
            if error == .tooLarge || error == .damaged && isAtRest {
                await files.run { self.recordFailure(failure, original, error) }
            }
            throw error.providerError
        }
    }

    // MARK: Files

    private static func original(_ path: [UInt8], _ stamp: FileStamp) -> Original? {
        guard let uri = withCPath(path, { g_filename_to_uri($0, nil, nil) }) else { return nil }
        defer { g_free(uri) }
        return Original(uri: String(cString: uri), stamp: stamp)
    }

    /// Returns the texts in a thumbnail, or in the record of a failure; nil if there is none, or if the photo has changed
    /// since.
    private static func texts(_ path: String, of original: Original) -> [String: String]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let written = FileStatus(descriptor: descriptor)?.stamp.modified,
            let texts = PNGFile.texts(FileBytes(descriptor: descriptor)),
            original.matches(texts, written: written)
        else { return nil }
        return texts
    }

    /// The text that records that a photo was too large.
    private static let tooLarge = (key: "Comment", text: "too large")

    private static let unwritable = ProviderError.failed(
        Message("The folder of thumbnails in the cache folder cannot be written."))

    /// Creates a folder.
    ///
    /// - Returns: False if it cannot be written.
    /// - Throws: ``ProviderError/storageFull``.
    private static func create(_ folder: String) throws -> Bool {
        do throws(StorageError) {
            try createPrivateFolder(folder)
            return access(folder, W_OK | X_OK) == 0
        } catch .full {
            throw ProviderError.storageFull
        } catch {
            return false
        }
    }

    /// Records that a photo has no thumbnail, so that there is no other attempt until the photo changes.
    private func recordFailure(_ path: String, _ original: Original, _ reason: ImageProcessorError)
    {
        guard (try? Self.create(String(path.dropLast(original.name.utf8.count + 1)))) == true
        else { return }
        var texts = original.texts
        if reason == .tooLarge { texts[Self.tooLarge.key] = Self.tooLarge.text }
        let bytes = PNGFile.plain(0, width: 1, height: 1, texts: texts)
        // Best effort: without the record, there is another attempt to create the thumbnail.
        try? writeAtomically(bytes, to: path, through: "\(path).part")
    }
}
