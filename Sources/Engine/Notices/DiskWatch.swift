internal import Glibc
internal import Synchronization

/// Whether the disk that things are cached on is full: found out by who writes, not by looking.
nonisolated final class DiskWatch: Sendable {
    /// As much has to be free again until it counts as having room: some pages of photos and an image.
    private static let roomBytes: UInt64 = 4 << 20

    /// Told when that changes. Set once, before anything is written.
    @MainActor var onChange: ((Bool) -> Void)?
    private let folder: String
    private let state = Atomic(false)

    /// - Parameter folder: On the disk.
    init(folder: String) { self.folder = folder }

    var isFull: Bool { state.load(ordering: .relaxed) }

    /// Takes note that something could not be written.
    @MainActor func noteFull() {
        state.store(true, ordering: .relaxed)
        onChange?(true)
    }

    /// Looks whether there is room again.
    @MainActor func check() {
        var disk = statvfs()
        guard statvfs(folder, &disk) == 0,
            UInt64(disk.f_bavail) * UInt64(disk.f_frsize) >= Self.roomBytes
        else { return }
        state.store(false, ordering: .relaxed)
        onChange?(false)
    }
}
