internal import EngineModel
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Storage
internal import System
internal import Translation

/// The files of the image cache. The methods block; the owner calls them on one queue.
///
/// The folder may be deleted at any time.
nonisolated final class ImageFiles: @unchecked Sendable {
    // Unchecked because its owner, ``ImageStore``, confines it to one queue.

    /// The validators of an image from the server, for a conditional request.
    struct Validators: Hashable {
        var etag = ""
        var lastModified = ""
        /// The time of the response, in seconds since 1970.
        var checked: Int64

        var isEmpty: Bool { etag.isEmpty && lastModified.isEmpty }
    }

    private let folder: String
    private let limitBytes: Int
    /// The total size of the images; nil if unknown. It may include files that were deleted by other programs.
    private var totalBytes: Int?
    /// The paths of the images that are not evicted.
    var pinned: Set<String> = []
    /// The part of the names of incomplete files that identifies this process. Incomplete files with another mark
    /// remain from a killed process. It is random, because that process may have had the same process ID.
    private static let partMark = ".part\(UInt32.random(in: 0...UInt32.max))-"
    /// The extension of the files with ``Validators``.
    private static let validatorsExtension = "note"

    init(folder: String, limitBytes: Int) {
        self.folder = folder
        self.limitBytes = limitBytes
    }

    private func folder(of key: ImageStore.Key) -> String { "\(folder)/\(key.account.folderName)" }

    private func path(_ key: ImageStore.Key, _ ending: String) -> String {
        "\(folder(of: key))/\(key.name).\(ending)"
    }

    /// Returns the path of an incomplete image.
    func partPath(_ key: ImageStore.Key, _ number: Int) -> String {
        "\(folder(of: key))/\(key.name)\(Self.partMark)\(number)"
    }

    /// Returns the path of an image and marks it as used now; nil if it does not exist.
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

    /// Creates the file of an incomplete image.
    ///
    /// - Throws: `StorageError`.
    func create(_ part: String, for key: ImageStore.Key) throws(StorageError) -> Int32 {
        let folder = folder(of: key)
        do throws(StorageError) {
            try createPrivateFolder(folder)
        } catch .cannotOpen(_, let reason) {
            throw .readOnly(folder, reason)
        }
        let descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return descriptor }
        let code = errno
        throw code == ENOSPC || code == EDQUOT
            ? .full : .readOnly(folder, String(cString: strerror(code)))
    }

    /// Renames a complete file to its final name, if it is an image.
    ///
    /// - Parameters:
    ///   - part: The path of the incomplete file.
    ///   - descriptor: The same file, open.
    ///   - key: The key of the image.
    ///   - validators: The validators of the response.
    /// - Returns: The path.
    /// - Throws: ``ProviderError/failed(_:)`` if the file is not an image; ``HTTPError/cannotWrite(_:)``.
    func store(
        _ part: String, _ descriptor: Int32, as key: ImageStore.Key, _ validators: Validators
    ) throws -> String {
        var prefix = [UInt8](repeating: 0, count: ImageFormat.prefixBytes)
        let count = pread(descriptor, &prefix, prefix.count, 0)
        guard count > 0, let format = ImageFormat(original: prefix[..<count]) else {
            throw ProviderError.failed(Message("The service sent a file that is not an image."))
        }
        var status = stat()
        fstat(descriptor, &status)
        let path = path(key, format.fileExtension)
        guard rename(part, path) == 0 else { throw HTTPError.cannotWrite(errno) }
        // An earlier version may have had another format.
        for other in ImageFormat.allCases where other != format {
            let path = self.path(key, other.fileExtension)
            if !pinned.contains(path) { unlink(path) }
        }
        store(validators, of: key)
        totalBytes? += Int(status.st_size)
        return path
    }

    // MARK: Validators

    /// Returns the validators of an image; nil if there are none.
    func validators(of key: ImageStore.Key) -> Validators? {
        let descriptor = open(path(key, Self.validatorsExtension), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        let lines = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, let checked = Int64(lines[2]), checked >= 0 else { return nil }
        return Validators(etag: String(lines[0]), lastModified: String(lines[1]), checked: checked)
    }

    /// Stores the validators of an image. An image without validators is never revalidated.
    func store(_ validators: Validators, of key: ImageStore.Key) {
        let path = path(key, Self.validatorsExtension)
        guard !validators.isEmpty else {
            unlink(path)
            return
        }
        let text = "\(validators.etag)\n\(validators.lastModified)\n\(validators.checked)\n"
        // Best effort: without the note, the image is fetched again.
        try? writeAtomically(
            Array(text.utf8), to: path, through: "\(path)\(Self.partMark)0")
    }

    // MARK: Deleting

    /// Deletes the images that were not used for the longest time, if the cache exceeds its limit. ``pinned`` images
    /// remain.
    ///
    /// - Parameter kept: The path of an image that is not deleted, because it is about to be returned.
    func evict(keeping kept: String) {
        if let totalBytes, totalBytes <= limitBytes { return }
        var images: [(path: String, validators: String, used: (Int, Int), bytes: Int)] = []
        for directory in Self.names(in: folder) {
            for name in Self.names(in: "\(folder)/\(directory)") {
                let path = "\(folder)/\(directory)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    continue
                }
                if Self.isPart(name) {
                    if !name.contains(Self.partMark) { unlink(path) }
                } else if !name.hasSuffix(".\(Self.validatorsExtension)") {
                    let base = "\(folder)/\(directory)/\(name.prefix { $0 != "." })"
                    let used = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
                    images.append(
                        (path, "\(base).\(Self.validatorsExtension)", used, Int(status.st_size)))
                }
            }
        }
        var total = images.reduce(0) { $0 + $1.bytes }
        if total > limitBytes {
            // 5 % more than necessary is deleted, so that not every new image requires a scan of the folder.
            let goal = limitBytes - limitBytes / 20
            for image in images.sorted(by: { $0.used < $1.used }) where total > goal {
                guard image.path != kept, !pinned.contains(image.path), unlink(image.path) == 0
                else { continue }
                total -= image.bytes
                unlink(image.validators)
            }
        }
        totalBytes = total
    }

    /// Deletes the images of an account.
    func removeAll(of account: AccountID) { removeAll(in: account.folderName) }

    /// Deletes the images of all accounts but some.
    func removeAll(besides accounts: Set<AccountID>) {
        let kept = Set(accounts.map(\.folderName))
        for name in Self.names(in: folder) where !kept.contains(name) { removeAll(in: name) }
    }

    private func removeAll(in name: String) {
        let folder = "\(folder)/\(name)"
        for name in Self.names(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
        totalBytes = nil
    }

    /// Returns true if the name is that of an incomplete file.
    private static func isPart(_ name: String) -> Bool {
        guard let ending = name.lastIndex(of: ".") else { return false }
        return name[ending...].hasPrefix(".part")
    }

    private static func names(in folder: String) -> [String] {
        (try? DirectoryListing(folder))?.names ?? []
    }
}
