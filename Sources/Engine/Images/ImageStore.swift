internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import Quoting
internal import Storage
internal import System

/// Images of remote photos on the disk, fetched once however many ask: written beside, checked, renamed.
///
/// The folder may be deleted at any time. What was not used for longest goes first when it grows too large.
/// An image that is asked for is served at once, however old; if the server was not asked for a day whether
/// it is still the same, that is done behind the answer.
final class ImageStore {
    /// What an image has to be kept under.
    nonisolated struct Key: Hashable {
        let account: AccountID
        let photo: PhotoID
        let size: ImageSize
        /// Where it is fetched; another address is another image.
        let url: String

        /// A name of our own: nothing that a service says decides a path.
        var name: String {
            var hash = StableHash()
            for part in [photo.text, size.rawValue, url] {
                hash.combine(part.utf8)
                hash.combine([0xff])
            }
            return hash.value.hexDigits
        }
    }

    /// After how long a server is asked whether an image is still the same.
    private static let freshSeconds: Int64 = 86_400
    /// How long after an attempt that came to nothing it is asked again.
    private static let retrySeconds: Int64 = 3600
    private static let maximumBytes = 64 << 20
    /// The time limit until the first byte of an image arrives, and between its bytes. The time in the queue of
    /// the HTTP client does not count.
    static let timeLimit = Duration.seconds(20)

    private let files: ImageFiles
    private let disk: DiskWatch
    private let http: any HTTPClient
    private let now: () -> Timestamp
    private let queue = DispatchQueue(label: "images")
    private var fetches: [Key: ImageFetch] = [:]
    private var lastPart = 0
    /// When images were asked for again.
    private var tried: [Key: Int64] = [:]
    private var revalidating: [Key: Task<Void, Never>] = [:]

    /// - Parameters:
    ///   - folder: Made when it is needed, one below for each account.
    ///   - limitBytes: How much is kept.
    ///   - disk: Told when it is full.
    ///   - http: Needs no account: images are public.
    ///   - now: What time it is.
    init(
        folder: String, limitBytes: Int, disk: DiskWatch, http: any HTTPClient,
        now: @escaping () -> Timestamp = { .now }
    ) {
        files = ImageFiles(folder: folder, limitBytes: limitBytes)
        self.disk = disk
        self.http = http
        self.now = now
    }

    /// The path of an image, fetched if need be.
    ///
    /// - Parameters:
    ///   - key: Which image.
    ///   - client: Who fetches it; nil for an image that lies open on the web.
    ///   - allowsLoopback: Whether its address may lie on loopback.
    ///   - limit: The time limit until the first byte arrives.
    ///   - progress: Told how the fetching goes.
    /// - Returns: The path. The file may go once it is not used.
    /// - Throws: ``ProviderError/notFound(_:)`` when the service has no such image, or none that is an image;
    ///   ``HTTPError``; ``ProviderError/storageFull``; `CancellationError` when the task is cancelled.
    func path(
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
        if let running = fetches[key] { return try await running.path(progress) }
        let new = ImageFetch { [weak self] fetch in
            if self?.fetches[key] === fetch { self?.fetches[key] = nil }
        }
        fetches[key] = new
        new.begin { [self] in
            try await fetch(key, through: client ?? http, allowsLoopback: allowsLoopback, limit, $0)
        }
        return try await new.path(progress)
    }

    /// The image, opened for reading, fetched if need be. The caller closes the descriptor.
    ///
    /// - Throws: See ``path(_:through:allowsLoopback:limit:progress:)``.
    func open(
        _ key: Key, through client: (any HTTPClient)? = nil, allowsLoopback: Bool,
        limit: Duration = ImageStore.timeLimit,
        progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> Int32 {
        // Between the two somebody may delete it, but hardly every time.
        for _ in 0..<3 {
            let path = try await path(
                key, through: client, allowsLoopback: allowsLoopback, limit: limit,
                progress: progress)
            let descriptor = await onFiles { _ in Glibc.open(path, O_RDONLY | O_CLOEXEC) }
            if descriptor >= 0 { return descriptor }
        }
        throw ProviderError.failed("The image could not be opened; try again.")
    }

    /// Returns those of the files that cannot be read.
    func unreadable(_ paths: Set<String>) async -> Set<String> {
        await onFiles { _ in paths.filter { access($0, R_OK) != 0 } }
    }

    /// Deletes what is kept for an account.
    func forget(_ account: AccountID) async {
        // What is on its way would come after all is deleted.
        let fetches = fetches.filter { $0.key.account == account }.values
        let tasks = revalidating.filter { $0.key.account == account }.values
        for task in tasks { task.cancel() }
        for fetch in fetches { fetch.beginCancellation() }
        for fetch in fetches { await fetch.cancel() }
        for task in tasks { await task.value }
        await onFiles { $0.removeAll(of: account) }
    }

    // MARK: Fetching

    private func fetch(
        _ key: Key, through client: any HTTPClient, allowsLoopback: Bool, _ limit: Duration,
        _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> String {
        guard let path = try await ask(key, through: client, allowsLoopback, limit, nil, progress)
        else {
            throw ProviderError.failed("The service did not give the image (status 304).")
        }
        return path
    }

    /// Fetches an image into the cache, and takes note of a disk that is full.
    ///
    /// - Returns: Its path; nil if it is what it was when `known` was said.
    private func ask(
        _ key: Key, through client: any HTTPClient, _ allowsLoopback: Bool, _ limit: Duration,
        _ known: ImageFiles.Validators?,
        _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> String? {
        do {
            let path = try await download(
                key, through: client, allowsLoopback, limit, known, progress)
            if disk.isFull { disk.check() }
            return path
        } catch {
            if Self.isAboutFullDisk(error) { disk.noteFull() }
            throw error
        }
    }

    nonisolated private static func isAboutFullDisk(_ error: any Error) -> Bool {
        switch error {
        case StorageError.full, HTTPError.cannotWrite(ENOSPC), HTTPError.cannotWrite(EDQUOT): true
        default: false
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
            return Result { (part, try files.create(part, for: key)) }
        }.get()
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
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(
                try await client.download(request, into: descriptor, progress: progress))
        } catch {
            result = .failure(error)
        }
        let checked = now().secondsSince1970
        return try await onFiles { files in
            defer { close(descriptor) }
            let outcome = Result { () throws -> String? in
                let response = try result.get()
                if response.status == 304, var known {
                    known.checked = checked
                    files.note(known, of: key)
                    unlink(part)
                    return nil
                }
                try Self.check(response, key)
                let validators = ImageFiles.Validators(response, checked: checked)
                let path = try files.keep(part, descriptor, as: key, validators)
                files.evict(keeping: path)
                return path
            }
            if case .failure = outcome { unlink(part) }
            return outcome
        }.get()
    }

    nonisolated private static func check(_ response: HTTPResponse, _ key: Key) throws {
        switch response.status {
        case 200..<300: return
        case 404, 410:
            throw ProviderError.notFound("The image of photo \(key.photo.text.quoted) is gone.")
        case 429: throw ProviderError.rateLimited(until: nil)
        default:
            throw ProviderError.failed(
                "The service did not give the image (status \(response.status)).")
        }
    }

    /// Asks behind the answer whether an image is still the same, if that was not done for long. If it is gone,
    /// or nobody can be asked, what is there stays.
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
            _ = try? await ask(
                key, through: client, allowsLoopback, Self.timeLimit, known
            ) { _ in }
            revalidating[key] = nil
        }
    }

    private func onFiles<Value: Sendable>(
        _ body: @escaping @Sendable (ImageFiles) -> Value
    ) async -> Value {
        await queue.run { [files] in body(files) }
    }
}

extension ImageFiles.Validators {
    /// What an answer says; what does not fit into a line of its own counts as nothing.
    nonisolated fileprivate init(_ response: HTTPResponse, checked: Int64) {
        func line(_ name: String) -> String {
            guard let value = response.headers[name], value.utf8.count <= 1000,
                value.utf8.allSatisfy({ 0x20..<0x7f ~= $0 })
            else { return "" }
            return value
        }
        self.init(
            etag: line("ETag"), lastModified: line("Last-Modified"), checked: checked)
    }
}
