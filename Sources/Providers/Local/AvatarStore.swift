internal import CGLib
internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import Storage
internal import Synchronization

/// The avatars of the local users: a square image each, in a file of its own.
///
/// A new avatar is a new file, so that whoever shows the old one sees that there is another.
final class AvatarStore: Sendable {
    /// Their width and height.
    static let pixels = 512

    private struct State {
        /// One change at a time of each user, by the first part of the name: a file that hangs delays no other user.
        var turns: [String: ChangeQueue] = [:]
        /// The number of each user's avatar, by the first part of its name; nil before anybody has looked.
        var numbers: [String: Int]?
    }

    private let folder: String
    private let images: any ImageProcessor
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "avatars")

    /// - Parameters:
    ///   - folder: Made when the first avatar is.
    ///   - images: Makes them.
    init(folder: String, images: any ImageProcessor) {
        self.folder = folder
        self.images = images
    }

    /// The path of the avatar of a user, by ``UserName/key``; empty if there is none.
    func path(of user: String) async -> String {
        await look()
        let name = Self.name(user)
        return number(name).map { path(name, $0) } ?? ""
    }

    /// Makes a user's avatar of the middle of an image.
    ///
    /// - Throws: `ProviderError`.
    func set(_ user: String, to file: String) async throws {
        try await make(user) { path throws(ImageProcessorError) in
            try await self.images.square(Array(file.utf8), pixels: Self.pixels, to: path)
        }
    }

    /// Draws an avatar for a user who has none.
    ///
    /// - Returns: False if the user has one.
    /// - Throws: `ProviderError`.
    func draw(_ user: String, name: String) async throws -> Bool {
        guard await path(of: user).isEmpty else { return false }
        try await make(user, replacing: false) { path throws(ImageProcessorError) in
            try await self.images.initials(of: name, pixels: Self.pixels, to: path)
        }
        return true
    }

    /// Who a user is.
    func profile(of account: AccountIdentity) async -> Profile {
        var profile = Profile(username: account.username, name: account.username)
        profile.avatar = await path(of: UserName(account.username)?.key ?? "")
        profile.isEditable = true
        return profile
    }

    func remove(_ user: String) async {
        let name = Self.name(user)
        await turns(of: name).run {
            await look()
            guard let number = number(name) else { return }
            state.withLock { $0.numbers?[name] = nil }
            await delete([path(name, number)])
        }
    }

    /// Makes a new avatar.
    ///
    /// - Parameters:
    ///   - user: The ``UserName/key`` of the user.
    ///   - replaces: False if an avatar that the user has by then stays.
    ///   - write: Writes the file.
    /// - Throws: `ProviderError`.
    private func make(
        _ user: String, replacing replaces: Bool = true,
        _ write: (String) async throws(ImageProcessorError) -> Void
    ) async throws {
        let name = Self.name(user)
        try await turns(of: name).run {
            await look()
            let old = number(name)
            guard replaces || old == nil else { return }
            let new = (old ?? 0) + 1
            do throws(StorageError) {
                try PrivateFolder.create(folder)
            } catch {
                throw error == .full ? ProviderError.storageFull : .failed("\(error)")
            }
            do throws(ImageProcessorError) {
                try await write(path(name, new))
            } catch {
                throw error.asProviderError
            }
            state.withLock { $0.numbers?[name] = new }
            if let old { await delete([path(name, old)]) }
        }
    }

    private func turns(of name: String) -> ChangeQueue {
        state.withLock { state in
            let turns = state.turns[name] ?? ChangeQueue()
            state.turns[name] = turns
            return turns
        }
    }

    // MARK: Files

    /// Looks what there is, once; of each user the last one counts.
    private func look() async {
        guard state.withLock({ $0.numbers == nil }) else { return }
        await onQueue { [self] in
            guard state.withLock({ $0.numbers == nil }) else { return }
            let (numbers, outdated) = Self.look(folder)
            for path in outdated { unlink(path) }
            state.withLock { $0.numbers = numbers }
        }
    }

    private static func look(_ folder: String) -> (numbers: [String: Int], outdated: [String]) {
        var numbers: [String: Int] = [:]
        var outdated: [String] = []
        let listing = try? FolderListing(Array(folder.utf8))
        for file in (listing?.files ?? []).map({ String(decoding: $0, as: UTF8.self) }) {
            let parts = file.split(separator: "-")
            guard parts.count == 2, parts[1].hasSuffix(suffix),
                let number = Int(parts[1].dropLast(suffix.count))
            else { continue }
            let name = String(parts[0])
            let other = numbers[name]
            numbers[name] = max(number, other ?? 0)
            if let other { outdated.append("\(folder)/\(name)-\(min(number, other))\(suffix)") }
        }
        return (numbers, outdated)
    }

    private func delete(_ paths: [String]) async {
        guard !paths.isEmpty else { return }
        await onQueue { for path in paths { unlink(path) } }
    }

    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    private static let suffix = ".png"

    private func number(_ name: String) -> Int? { state.withLock { $0.numbers?[name] } }

    private func path(_ name: String, _ number: Int) -> String {
        "\(folder)/\(name)-\(number)\(Self.suffix)"
    }

    /// Names may have more bytes than a file name, and any characters.
    private static func name(_ user: String) -> String {
        guard let digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, user, -1) else {
            return "user"
        }
        defer { g_free(digest) }
        return String(String(cString: digest).prefix(32))
    }
}
