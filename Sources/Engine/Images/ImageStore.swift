internal import Dispatch
package import EngineModel
internal import Glibc
internal import ImageMetadata
package import ProviderKit
internal import Quoting
internal import Storage
internal import System
internal import Translation

/// The image cache: files of remote photos. Callers that request the same image share one fetch.
///
/// An image is written to a temporary file, checked, and renamed. The folder may be deleted at any time. If the cache
/// exceeds its limit, the images that were not used for the longest time are deleted.
///
/// A cached image is returned at once, regardless of its age. If it was not checked for a day, it is revalidated in the
/// background.
package final class ImageStore {
    /// The key of a cached image.
    nonisolated package struct Key: Hashable {
        let account: AccountID
        let photo: PhotoID
        /// The address of the image. Another address is another image; sizes with one address are one image.
        let url: String

        package init(account: AccountID, photo: PhotoID, url: String) {
            self.account = account
            self.photo = photo
            self.url = url
        }

        /// The file name without extension. It is a hash, so that data from a service never determines a path.
        var name: String { StableHash.digits(of: [photo.text, url]) }
    }

    /// The time after which an image is revalidated.
    private static let freshSeconds: Int64 = 86_400
    /// The time after a failed revalidation before the next one.
    private static let retrySeconds: Int64 = 3600
    private static let maximumBytes = 64 << 20
    /// The time limit until the first byte of an image arrives, and between its bytes. The time in the queue of
    /// the HTTP client does not count.
    package static let timeLimit = Duration.seconds(18)

    private let files: ImageFiles
    private let disk: DiskWatch
    private let http: any HTTPClient
    private let now: () -> Timestamp
    private let queue = DispatchQueue(label: "images")
    private let fetches = SingleFlight<Key, String>(cancelsAbandoned: true)
    private var progress: [Key: SharedProgress] = [:]
    private var lastPart = 0
    /// The times of the last revalidations.
    private var tried: [Key: Int64] = [:]
    private var revalidating: [Key: Task<Void, Never>] = [:]

    /// - Parameters:
    ///   - folder: The folder, which is created on first use. It contains one folder for each account.
    ///   - limitBytes: The size limit of the cache.
    ///   - disk: The state of the disk, which is updated after failed writes.
    ///   - http: The client for images that are public.
    ///   - now: Returns the current time.
    package init(
        folder: String, limitBytes: Int, disk: DiskWatch, http: any HTTPClient,
        now: @escaping () -> Timestamp = { .now }
    ) {
        files = ImageFiles(folder: folder, limitBytes: limitBytes)
        self.disk = disk
        self.http = http
        self.now = now
    }

    /// Returns the path of an image, which is fetched if necessary.
    ///
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - client: The client for the request; nil for a public image.
    ///   - allowsLoopback: True if the address may be a loopback address.
    ///   - limit: The time limit until the first byte arrives.
    ///   - progress: Called with the progress of the fetch.
    /// - Returns: The path. The file may be deleted after some time without use.
    /// - Throws: ``ProviderError/notFound(_:)`` if the service does not have the image; ``ProviderError/failed(_:)`` if
    ///   its response is not an image; ``HTTPError``; ``ProviderError/storageFull``; `CancellationError` if the task is
    ///   cancelled.
    package func path(
        _ key: Key, through client: (any HTTPClient)? = nil, allowsLoopback: Bool,
        limit: Duration = ImageStore.timeLimit,
        progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> String {
        let found = await onFiles { files in
            files.find(key).map { (path: $0, validators: files.validators(of: key)) }
        }
        if let found {
            if let known = found.validators {
                revalidate(key, known, through: client ?? http, allowsLoopback)
            }
            return found.path
        }
        let shared =
            fetches.isRunning(key) ? self.progress[key] ?? SharedProgress() : SharedProgress()
        self.progress[key] = shared
        let caller = shared.add(progress)
        defer {
            shared.handlers[caller] = nil
            if !fetches.isRunning(key) { self.progress[key] = nil }
        }
        return try await fetches.run(key) { [self] in
            // An earlier fetch may have ended after the caller looked for the file.
            if let path = await cachedPath(key) { return path }
            let new = try await request(key, through: client ?? http, allowsLoopback, limit, nil) {
                progress in
                Task { @MainActor in shared.report(progress) }
            }
            guard let path = new else {
                throw ProviderError.failed(
                    Message("The service did not send the image (status 304)."))
            }
            return path
        }
    }

    /// The progress of a fetch, for its callers.
    private final class SharedProgress {
        var handlers: [Int: (HTTPProgress) -> Void] = [:]
        private var lastID = 0
        private var latest: HTTPProgress?

        func add(_ handler: @escaping (HTTPProgress) -> Void) -> Int {
            lastID += 1
            handlers[lastID] = handler
            if let latest { handler(latest) }
            return lastID
        }

        func report(_ progress: HTTPProgress) {
            latest = progress
            for handler in handlers.values { handler(progress) }
        }
    }

    /// Returns the path of an image that is cached; nil otherwise. Sends no request.
    package func cachedPath(_ key: Key) async -> String? { await onFiles { $0.find(key) } }

    /// Returns the size of an image that is cached, with the orientation applied; nil if it is not cached or damaged.
    package func size(of key: Key) async -> (width: Int, height: Int)? {
        await onFiles { files in
            guard let path = files.find(key) else { return nil }
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            return ImageHeader(FileBytes(descriptor: descriptor))?.shownSize
        }
    }

    /// Protects images from being evicted, instead of those of the previous call.
    ///
    /// - Returns: The paths that do not exist.
    package func pin(_ paths: Set<String>) async -> Set<String> {
        await onFiles { files in
            files.pinned = paths
            return paths.filter { access($0, R_OK) != 0 }
        }
    }

    /// Opens an image for reading, which is fetched if necessary. The caller closes the descriptor.
    ///
    /// - Throws: See ``path(_:through:allowsLoopback:limit:progress:)``.
    package func open(
        _ key: Key, through client: (any HTTPClient)? = nil, allowsLoopback: Bool,
        limit: Duration = ImageStore.timeLimit,
        progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> Int32 {
        // Another process may delete the file before it is opened. More than one repetition is unlikely.
        for _ in 0..<3 {
            let path = try await path(
                key, through: client, allowsLoopback: allowsLoopback, limit: limit,
                progress: progress)
            let descriptor = await onFiles { _ in Glibc.open(path, O_RDONLY | O_CLOEXEC) }
            if descriptor >= 0 { return descriptor }
        }
        throw ProviderError.failed(Message(verbatim: "The image could not be opened; try again."))
    }

    /// Returns the paths that cannot be read.
    package func unreadable(_ paths: Set<String>) async -> Set<String> {
        await onFiles { _ in paths.filter { access($0, R_OK) != 0 } }
    }

    /// Deletes the images of an account.
    package func forget(_ account: AccountID) async {
        // The fetches are cancelled first, because they would write files after the deletion.
        let tasks = revalidating.filter { $0.key.account == account }.values
        for task in tasks { task.cancel() }
        await fetches.cancel { $0.account == account }
        for task in tasks { await task.value }
        await onFiles { $0.removeAll(of: account) }
    }

    /// Deletes the images of all accounts but some.
    package func forget(besides accounts: Set<AccountID>) async {
        await onFiles { $0.removeAll(besides: accounts) }
    }

    // MARK: Fetching

    /// The hosts that limit requests for images, each with the end of the limit. No image is requested until then.
    private var limitedHosts: [String: Timestamp] = [:]
    /// The pause after a limit without a time, and the longest pause.
    nonisolated private static let defaultPause = Duration.seconds(300)
    nonisolated private static let longestPause = Duration.seconds(86_400)

    /// Fetches an image into the cache, and updates the state of the disk.
    ///
    /// - Returns: The path of the image; nil if it has not changed since the response with the validators `known`.
    private func request(
        _ key: Key, through client: any HTTPClient, _ allowsLoopback: Bool, _ limit: Duration,
        _ known: ImageFiles.Validators?,
        _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> String? {
        let host = WebAddress(key.url)?.origin ?? key.url
        if let until = limitedHosts[host], now() < until {
            throw ProviderError.rateLimited(until: until)
        }
        do {
            let path = try await download(
                key, through: client, allowsLoopback, limit, known, progress)
            if disk.isFull { disk.check() }
            limitedHosts[host] = nil
            return path
        } catch {
            switch error {
            case ProviderError.rateLimited(let until): limitedHosts[host] = until
            case StorageError.full, HTTPError.cannotWrite(ENOSPC), HTTPError.cannotWrite(EDQUOT):
                disk.recordFullDisk()
            default: break
            }
            throw error
        }
    }

    private func download(
        _ key: Key, through client: any HTTPClient, _ allowsLoopback: Bool, _ limit: Duration,
        _ known: ImageFiles.Validators?,
        _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> String? {
        lastPart += 1
        let number = lastPart
        let (part, descriptor) = try await onFiles { files in
            let part = files.partPath(key, number)
            return (part, try files.create(part, for: key))
        }
        var request = HTTPRequest(.get, key.url)
        request.addressSource = .service
        request.allowsLoopback = allowsLoopback
        request.maximumBytes = Self.maximumBytes
        request.timeLimit = limit
        if let known {
            if !known.etag.isEmpty { request.headers.append("If-None-Match", known.etag) }
            if !known.lastModified.isEmpty {
                request.headers.append("If-Modified-Since", known.lastModified)
            }
        }
        let result = await Result { [request] in
            try await client.download(request, into: descriptor, progress: progress)
        }
        let checked = now().secondsSince1970
        return try await onFiles { files in
            defer { close(descriptor) }
            do {
                let response = try result.get()
                if response.status == 304, var known {
                    known.checked = checked
                    files.store(known, of: key)
                    unlink(part)
                    return nil
                }
                try Self.check(response, key, now: Timestamp(secondsSince1970: checked))
                let validators = ImageFiles.Validators(response, checked: checked)
                let path = try files.store(part, descriptor, as: key, validators)
                files.evict(keeping: path)
                return path
            } catch {
                unlink(part)
                throw error
            }
        }
    }

    nonisolated private static func check(
        _ response: HTTPResponse, _ key: Key, now: Timestamp
    ) throws {
        switch response.status {
        case 200..<300: return
        case 404, 410:
            throw ProviderError.notFound(
                Message(
                    "The image of photo {photo} no longer exists.", ["photo": key.photo.text.quoted]
                ))
        case 429:
            // Some federated servers send the time in the form of RFC 3339.
            let reset = response.headers["X-RateLimit-Reset"].flatMap { Timestamp(rfc3339: $0) }
            let time = response.retryAfter(now: now).map { now + $0 } ?? reset
            let until = max(time ?? now + defaultPause, now + .seconds(1))
            throw ProviderError.rateLimited(until: min(until, now + longestPause))
        default:
            throw ProviderError.failed(
                Message(
                    "The service did not send the image (status {status}).",
                    ["status": "\(response.status)"]))
        }
    }

    /// Revalidates an image in the background, unless that was done recently. If the image no longer exists at the
    /// service, or the request fails, the cached image remains.
    private func revalidate(
        _ key: Key, _ known: ImageFiles.Validators, through client: any HTTPClient,
        _ allowsLoopback: Bool
    ) {
        let time = now().secondsSince1970
        guard abs(time - known.checked) >= Self.freshSeconds, revalidating[key] == nil else {
            return
        }
        if let last = tried[key], abs(time - last) < Self.retrySeconds { return }
        if tried.count > 1000 { tried = [:] }
        tried[key] = time
        revalidating[key] = Task { [self] in
            _ = try? await request(
                key, through: client, allowsLoopback, Self.timeLimit, known
            ) { _ in }
            revalidating[key] = nil
        }
    }

    private func onFiles<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (ImageFiles) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await queue.run { [files] () throws(Failure) in try body(files) }
    }
}

extension ImageFiles.Validators {
    /// Reads the validators of a response. A value that does not fit on one line of the file is ignored.
    nonisolated fileprivate init(_ response: HTTPResponse, checked: Int64) {
        func line(_ name: String) -> String {
            guard let value = response.headers[name], value.utf8.count <= 1000,
                value.utf8.allSatisfy({ 0x20..<0x7f ~= $0 })
            else { return "" }
            return value
        }
        self.init(etag: line("ETag"), lastModified: line("Last-Modified"), checked: checked)
    }
}
