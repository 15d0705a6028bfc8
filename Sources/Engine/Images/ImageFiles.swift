internal import Glibc
internal import ProviderKit
internal import Storage
internal import System

/// The files of the image cache. Used on one queue, which may wait for disks.
///
/// The folder may be deleted at any time.
nonisolated final class ImageFiles: @unchecked Sendable {
    // Confined to the queue of its owner, which calls nothing of it elsewhere.

    /// What the server said of an image, to ask for it again.
    struct Validators: Hashable {
        var etag = ""
        var lastModified = ""
        /// When the server said so, in seconds since 1970.
        var checked: Int64

        var isEmpty: Bool { etag.isEmpty && lastModified.isEmpty }
    }

    private let folder: String
    private let limitBytes: Int
    /// How much there is, as far as is known: what others delete counts until the next look.
    private var totalBytes: Int?
    /// What files are called that are being written; others were left by a process that was killed, which may have
    /// had our number.
    private static let partMark = ".part\(UInt32.random(in: 0...UInt32.max))-"
    /// The ending of the files with ``Validators``.
    private static let note = "note"

    init(folder: String, limitBytes: Int) {
        self.folder = folder
        self.limitBytes = limitBytes
    }

    private func folder(of key: ImageStore.Key) -> String { "\(folder)/\(key.account.folderName)" }

    private func path(_ key: ImageStore.Key, _ ending: String) -> String {
        "\(folder(of: key))/\(key.name).\(ending)"
    }

    /// Where a part of an image is written.
    func partPath(_ key: ImageStore.Key, _ number: Int) -> String {
        "\(folder(of: key))/\(key.name)\(Self.partMark)\(number)"
    }

    /// The image, used just now; nil if it is not there.
    func find(_ key: ImageStore.Key) -> String? {
        for format in ImageFormat.allCases {
            let path = path(key, format.fileExtension)
            // The modification time records the last use, since not every file system records reads. In a cache
            // that is read-only, nothing is evicted either.
            if utimensat(AT_FDCWD, path, nil, 0) != 0, errno == ENOENT { continue }
            // After a power failure, the file may be empty.
            var status = stat()
            if stat(path, &status) == 0, status.st_size > 0, access(path, R_OK) == 0 {
                return path
            }
        }
        return nil
    }

    /// Begins to write an image.
    ///
    /// - Throws: `StorageError`.
    func create(_ part: String, for key: ImageStore.Key) throws(StorageError) -> Int32 {
        let folder = folder(of: key)
        do throws(StorageError) {
            try PrivateFolder.create(folder)
        } catch .cannotOpen(_, let reason) {
            throw .readOnly(folder, reason)
        }
        let descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return descriptor }
        let code = errno
        throw code == ENOSPC || code == EDQUOT
            ? .full : .readOnly(folder, String(cString: strerror(code)))
    }

    /// Gives an image that is whole its name, if it is one.
    ///
    /// - Parameters:
    ///   - part: Where it was written.
    ///   - descriptor: The same, open.
    ///   - key: Which image it is.
    ///   - validators: What the server said of it.
    /// - Returns: The path.
    /// - Throws: ``ProviderError/failed(_:)`` for what is no image; ``HTTPError/cannotWrite(_:)``.
    func keep(
        _ part: String, _ descriptor: Int32, as key: ImageStore.Key, _ validators: Validators
    ) throws -> String {
        var prefix = [UInt8](repeating: 0, count: ImageFormat.prefixBytes)
        let count = pread(descriptor, &prefix, prefix.count, 0)
        guard count > 0, let format = ImageFormat(prefix: prefix[..<count]) else {
            throw ProviderError.failed("What the service gave is no image.")
        }
        var status = stat()
        fstat(descriptor, &status)
        let path = path(key, format.fileExtension)
        guard rename(part, path) == 0 else { throw HTTPError.cannotWrite(errno) }
        // It may have been of another format before.
        for other in ImageFormat.allCases where other != format {
            unlink(self.path(key, other.fileExtension))
        }
        note(validators, of: key)
        totalBytes? += Int(status.st_size)
        return path
    }

    // MARK: Validators

    /// What the server said of an image; nil if that was nothing, or was lost.
    func validators(of key: ImageStore.Key) -> Validators? {
        let descriptor = open(path(key, Self.note), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        let lines = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, let checked = Int64(lines[2]) else { return nil }
        return Validators(
            etag: String(lines[0]), lastModified: String(lines[1]), checked: checked)
    }

    /// Notes what the server said; without a note an image is never asked for again.
    func note(_ validators: Validators, of key: ImageStore.Key) {
        let path = path(key, Self.note)
        guard !validators.isEmpty else {
            unlink(path)
            return
        }
        let text =
            "\(validators.etag)\n\(validators.lastModified)\n\(validators.checked)\n"
        // Best effort: without the note, the image is fetched again.
        try? AtomicFile.write(
            Array(text.utf8), to: path, through: "\(path)\(Self.partMark)0")
    }

    // MARK: Deleting

    /// Deletes what was not used for longest, if there is too much, until the rest fits with some room.
    ///
    /// - Parameter kept: The image that is about to be handed out.
    func evict(keeping kept: String) {
        if let totalBytes, totalBytes <= limitBytes { return }
        var images: [(path: String, note: String, used: (Int, Int), bytes: Int)] = []
        for directory in Self.names(in: folder) {
            for name in Self.names(in: "\(folder)/\(directory)") {
                let path = "\(folder)/\(directory)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    continue
                }
                if Self.isPart(name) {
                    if !name.contains(Self.partMark) { unlink(path) }
                } else if !name.hasSuffix(".\(Self.note)") {
                    let note = "\(folder)/\(directory)/\(name.prefix { $0 != "." }).\(Self.note)"
                    let used = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
                    images.append((path, note, used, Int(status.st_size)))
                }
            }
        }
        var total = images.reduce(0) { $0 + $1.bytes }
        if total > limitBytes {
            // Some room, so that not every image that comes has all others looked at.
            let goal = limitBytes - limitBytes / 20
            for image in images.sorted(by: { $0.used < $1.used }) where total > goal {
                guard image.path != kept, unlink(image.path) == 0 else { continue }
                total -= image.bytes
                unlink(image.note)
            }
        }
        totalBytes = total
    }

    /// Deletes what is kept for an account.
    func removeAll(of account: AccountID) {
        let folder = "\(folder)/\(account.folderName)"
        for name in Self.names(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
        totalBytes = nil
    }

    /// Whether a file is one that is, or was, being written.
    private static func isPart(_ name: String) -> Bool {
        guard let ending = name.lastIndex(of: ".") else { return false }
        return name[ending...].hasPrefix(".part")
    }

    private static func names(in folder: String) -> [String] {
        (try? DirectoryListing(folder))?.names ?? []
    }
}
