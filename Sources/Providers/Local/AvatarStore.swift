internal import CGLib
internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import Storage
internal import Synchronization
internal import System

/// The avatars of the local users. Each is a square image in its own file.
///
/// A new avatar has a new file name, so that clients detect the change.
final class AvatarStore: Sendable {
    /// The width and height of avatars.
    static let pixels = 512

    private let folder: String
    private let images: any ImageProcessor
    /// One queue of changes per user, by the first part of the file name: a file that hangs delays no other user.
    private let changeQueues = Mutex<[String: ChangeQueue]>([:])
    /// The number of each user's avatar, by the first part of the file name; nil before the folder was read.
    private let numbers = Mutex<[String: Int]?>(nil)
    private let queue = DispatchQueue(label: "avatars")

    /// - Parameters:
    ///   - folder: The folder of the files. It is created together with the first avatar.
    ///   - images: Creates the images.
    init(folder: String, images: any ImageProcessor) {
        self.folder = folder
        self.images = images
    }

    /// The path of the avatar of a user, by ``UserName/key``; empty if there is none.
    func path(of user: String) async -> String {
        await loadNumbers()
        let name = Self.name(user)
        return number(name).map { path(name, $0) } ?? ""
    }

    /// Sets the avatar of a user to the central square of an image.
    ///
    /// - Throws: `ProviderError`.
    func set(_ user: String, to file: String) async throws {
        let name = Self.name(user)
        try await changeQueue(of: name).run {
            await loadNumbers()
            let old = number(name)
            let new = (old ?? 0) + 1
            do {
                try createPrivateFolder(folder)
                try await images.make(
                    .square(pixels: Self.pixels), from: Array(file.utf8), to: path(name, new))
            } catch let error as StorageError {
                throw ProviderError(error)
            } catch let error as ImageProcessorError {
                throw error.providerError
            }
            numbers.withLock { $0?[name] = new }
            if let old { await delete(path(name, old)) }
        }
    }

    func remove(_ user: String) async {
        let name = Self.name(user)
        await changeQueue(of: name).run {
            await loadNumbers()
            guard let number = number(name) else { return }
            numbers.withLock { $0?[name] = nil }
            await delete(path(name, number))
        }
    }

    private func changeQueue(of name: String) -> ChangeQueue {
        changeQueues.withLock { changeQueues in
            let changeQueue = changeQueues[name] ?? ChangeQueue()
            changeQueues[name] = changeQueue
            return changeQueue
        }
    }

    // MARK: Files

    /// Reads the folder, once. If a user has several files, the one with the highest number is valid.
    private func loadNumbers() async {
        guard numbers.withLock({ $0 == nil }) else { return }
        await queue.run { [self] in
            guard numbers.withLock({ $0 == nil }) else { return }
            var found: [String: Int] = [:]
            let listing = try? DirectoryListing(folder)
            for bytes in listing?.names(.file) ?? [] {
                let file = String(decoding: bytes, as: UTF8.self)
                let parts = file.split(separator: "-")
                guard parts.count == 2, parts[1].hasSuffix(Self.suffix),
                    let number = Int(parts[1].dropLast(Self.suffix.count)), number < .max / 2
                else { continue }
                let name = String(parts[0])
                let other = found[name]
                found[name] = max(number, other ?? 0)
                if let other { unlink(path(name, min(number, other))) }
            }
            numbers.withLock { [found] in $0 = found }
        }
    }

    private func delete(_ path: String) async { await queue.run { _ = unlink(path) } }

    private static let suffix = ".png"

    private func number(_ name: String) -> Int? { numbers.withLock { $0?[name] } }

    private func path(_ name: String, _ number: Int) -> String {
        "\(folder)/\(name)-\(number)\(Self.suffix)"
    }

    /// Returns the first part of the file name: user names can be too long for a file name, and contain any characters.
    private static func name(_ user: String) -> String {
        checksum(user, G_CHECKSUM_SHA256).map { String($0.prefix(32)) } ?? "user"
    }
}
