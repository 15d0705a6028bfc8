internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import Storage

/// Images of remote photos on the disk, fetched once however many ask: written beside, checked, renamed.
///
/// The folder may be deleted at any time. What was not used for longest goes first when it grows too large.
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

    private let folder: String
    private var limitBytes: Int
    private let http: any HTTPClient
    private let files = DispatchQueue(label: "images")
    private var fetches: [Key: ImageFetch] = [:]
    private var lastPart = 0
    /// What files are called that are being written; those of other processes were left by one that was killed.
    nonisolated private static let partMark = ".part\(getpid())-"

    /// - Parameters:
    ///   - folder: Made when it is needed, one below for each account.
    ///   - limitBytes: How much is kept.
    ///   - http: Needs no account: images are public.
    init(folder: String, limitBytes: Int, http: any HTTPClient) {
        self.folder = folder
        self.limitBytes = limitBytes
        self.http = http
    }

    /// The path of an image, fetched if need be.
    ///
    /// - Parameters:
    ///   - key: Which image.
    ///   - allowsLoopback: Whether its address may lie on loopback.
    ///   - progress: Told how the fetching goes.
    /// - Returns: The path. The file may go once it is not used.
    /// - Throws: ``ProviderError/notFound(_:)`` when the service has no such image, or none that is an image;
    ///   ``HTTPError``; ``ProviderError/storageFull``; `CancellationError` when the task is cancelled.
    func path(
        _ key: Key, allowsLoopback: Bool, progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> String {
        if let path = await onFiles({ [folder] in Self.find(key, in: folder) }) { return path }
        if let running = fetches[key] { return try await running.path(progress) }
        let new = ImageFetch { [weak self] fetch in
            if self?.fetches[key] === fetch { self?.fetches[key] = nil }
        }
        fetches[key] = new
        new.begin { [self] in try await fetch(key, allowsLoopback: allowsLoopback, $0) }
        return try await new.path(progress)
    }

    /// The image, opened for reading, fetched if need be. The caller closes the descriptor.
    ///
    /// - Throws: What ``path(_:allowsLoopback:)`` throws.
    func open(
        _ key: Key, allowsLoopback: Bool, progress: @escaping (HTTPProgress) -> Void = { _ in }
    ) async throws -> Int32 {
        // Between the two somebody may delete it, but hardly every time.
        for _ in 0..<3 {
            let path = try await path(key, allowsLoopback: allowsLoopback, progress: progress)
            let descriptor = await onFiles { Glibc.open(path, O_RDONLY | O_CLOEXEC) }
            if descriptor >= 0 { return descriptor }
        }
        throw ProviderError.failed("The image could not be opened; try again.")
    }

    /// Deletes what is kept for an account.
    func forget(_ account: AccountID) async {
        // What is on its way would come after all is deleted.
        for (key, fetch) in fetches where key.account == account {
            await fetch.cancel()
        }
        await onFiles { [folder] in
            let folder = "\(folder)/\(account.text)"
            for name in Self.names(in: folder) { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
    }

    private func fetch(
        _ key: Key, allowsLoopback: Bool, _ progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> String {
        let directory = "\(folder)/\(key.account.text)"
        lastPart += 1
        let part = "\(directory)/\(key.name)\(Self.partMark)\(lastPart)"
        let descriptor = try await onFiles { Self.create(part, in: directory) }.get()
        var request = HTTPRequest(.get, key.url)
        request.addressSource = .stranger
        request.allowsLoopback = allowsLoopback
        request.maximumBytes = 64 << 20
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(
                try await http.download(request, into: descriptor, progress: progress))
        } catch {
            result = .failure(error)
        }
        return try await onFiles { [folder, limitBytes] in
            defer { close(descriptor) }
            let outcome = Self.finish(result, descriptor, part, key, in: directory)
            if case .success(let path) = outcome {
                Self.evict(from: folder, over: limitBytes, keeping: path)
            } else {
                unlink(part)
            }
            return outcome
        }.get()
    }

    private func onFiles<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            files.async { continuation.resume(returning: body()) }
        }
    }

    // MARK: Files

    nonisolated private static func find(_ key: Key, in folder: String) -> String? {
        for format in ImageFormat.allCases {
            let path = "\(folder)/\(key.account.text)/\(key.name).\(format.fileExtension)"
            // Used just now: the time of change says so, since not every file system has that of reading.
            if utimensat(AT_FDCWD, path, nil, 0) == 0 { return path }
        }
        return nil
    }

    nonisolated private static func create(
        _ part: String, in directory: String
    ) -> Result<Int32, any Error> {
        Result {
            try PrivateFolder.create(directory)
            let descriptor = Glibc.open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw HTTPError.cannotWrite(errno) }
            return descriptor
        }
    }

    nonisolated private static func finish(
        _ result: Result<HTTPResponse, any Error>, _ descriptor: Int32, _ part: String, _ key: Key,
        in directory: String
    ) -> Result<String, any Error> {
        Result {
            let response = try result.get()
            switch response.status {
            case 200..<300: break
            case 404, 410:
                throw ProviderError.notFound("The image of photo \"\(key.photo)\" is gone.")
            case 429: throw ProviderError.rateLimited(until: nil)
            default:
                throw ProviderError.failed(
                    "The service did not give the image (status \(response.status)).")
            }
            var prefix = [UInt8](repeating: 0, count: ImageFormat.prefixBytes)
            let count = pread(descriptor, &prefix, prefix.count, 0)
            guard count > 0, let format = ImageFormat(prefix: prefix[..<count]) else {
                throw ProviderError.failed("What the service gave is no image.")
            }
            let path = "\(directory)/\(key.name).\(format.fileExtension)"
            guard rename(part, path) == 0 else { throw HTTPError.cannotWrite(errno) }
            return path
        }
    }

    /// Deletes what was not used for longest until the rest fits.
    nonisolated private static func evict(
        from folder: String, over limitBytes: Int, keeping kept: String
    ) {
        var images: [(path: String, used: (Int, Int), bytes: Int)] = []
        for directory in names(in: folder) {
            for name in names(in: "\(folder)/\(directory)") {
                let path = "\(folder)/\(directory)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    continue
                }
                if isPart(name) {
                    if !name.contains(partMark) { unlink(path) }
                    continue
                }
                let used = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
                images.append((path, used, Int(status.st_size)))
            }
        }
        var total = images.reduce(0) { $0 + $1.bytes }
        for image in images.sorted(by: { $0.used < $1.used }) where total > limitBytes {
            guard image.path != kept, unlink(image.path) == 0 else { continue }
            total -= image.bytes
        }
    }

    /// Whether a file is one that is, or was, being written.
    nonisolated private static func isPart(_ name: String) -> Bool {
        guard let ending = name.lastIndex(of: ".") else { return false }
        return name[ending...].hasPrefix(".part")
    }

    nonisolated private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
