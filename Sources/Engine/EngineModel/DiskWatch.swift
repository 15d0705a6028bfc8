internal import Glibc
internal import Synchronization

/// The state of the disk with the cache: full, or with free space.
///
/// The state changes when a write fails, and when ``check()`` finds free space. Nothing is polled.
nonisolated package final class DiskWatch: Sendable {
    /// The free space that ends the state "full". It holds several pages of photos and an image.
    private static let requiredBytes: UInt64 = 4 << 20

    /// Called with ``isFull`` after each failed write and each successful check. Set once, by ``Engine/init``.
    @MainActor package var onChange: ((Bool) -> Void)?
    private let folder: String
    private let state = Atomic(false)

    /// - Parameter folder: A folder on the disk.
    package init(folder: String) { self.folder = folder }

    package var isFull: Bool { state.load(ordering: .relaxed) }

    /// Records that a write failed because the disk is full.
    @MainActor package func recordFullDisk() {
        state.store(true, ordering: .relaxed)
        onChange?(true)
    }

    /// Checks if the disk has free space again.
    @MainActor package func check() {
        var disk = statvfs()
        guard statvfs(folder, &disk) == 0,
            UInt64(disk.f_bavail) * UInt64(disk.f_frsize) >= Self.requiredBytes
        else { return }
        state.store(false, ordering: .relaxed)
        onChange?(false)
    }
}
