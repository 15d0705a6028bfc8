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
        let name = Self.name(user)
        return Self.lastNumber(await files(name)).map { path(name, $0) } ?? ""
    }

    /// Sets the avatar of a user to the central square of an image.
    ///
    /// - Throws: `ProviderError`.
    func set(_ user: String, to file: String) async throws {
        let name = Self.name(user)
        try await changeQueue(of: name).run {
            let old = await files(name)
            let new = (Self.lastNumber(old) ?? 0) + 1
            do {
                try createPrivateFolder(folder)
                try await images.make(
                    .square(pixels: Self.pixels), from: Array(file.utf8), to: path(name, new))
            } catch let error as StorageError {
                throw ProviderError(error)
            } catch let error as ImageProcessorError {
                throw error.providerError
            }
            await delete(old)
        }
    }

    func remove(_ user: String) async {
        let name = Self.name(user)
        await changeQueue(of: name).run {
            await delete(await files(name))
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

    /// Returns the names of the files of a user. They may have been replaced by those of a backup.
    private func files(_ name: String) async -> [String] {
        await queue.run { [self] in
            let names = (try? DirectoryListing(folder))?.names(.file) ?? []
            return names.map { String(decoding: $0, as: UTF8.self) }
                .filter { $0.hasPrefix("\(name)-") && $0.hasSuffix(Self.suffix) }
        }
    }

    private func delete(_ files: [String]) async {
        await queue.run { [self] in for file in files { unlink("\(folder)/\(file)") } }
    }

    /// Returns the highest number of files of a user, which is that of the valid one.
    private static func lastNumber(_ files: [String]) -> Int? {
        files.compactMap { Int($0.dropLast(suffix.count).drop { $0 != "-" }.dropFirst()) }
            .filter { $0 < .max / 2 }.max()
    }

    private static let suffix = ".png"

    private func path(_ name: String, _ number: Int) -> String {
        "\(folder)/\(name)-\(number)\(Self.suffix)"
    }

    /// Returns the first part of the file name: user names can be too long for a file name, and contain any characters.
    private static func name(_ user: String) -> String {
        checksum(user, G_CHECKSUM_SHA256).map { String($0.prefix(32)) } ?? "user"
    }
}
