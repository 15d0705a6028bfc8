internal import Glibc
internal import ProviderKit
internal import Synchronization

/// The stores that remote accounts use.
struct RemoteStores {
    let feeds: FeedStore
    let images: ImageStore
    let disk: DiskWatch
    let probes = HostProbes()
    private let accounts: AccountStore

    init(_ ports: EnginePorts, _ accounts: AccountStore) {
        disk = DiskWatch(folder: ports.cacheFolder)
        feeds = FeedStore(folder: ports.cacheFolder, disk: disk, logger: ports.logger)
        images = ImageStore(
            folder: "\(ports.cacheFolder)/images", limitBytes: ports.cacheLimitBytes,
            disk: disk, http: ports.http, now: ports.now)
        self.accounts = accounts
    }

    func likes(of account: AccountID) -> LikeStore { accounts.likes(of: account) }
}

/// A coordinator of probes. One probe of a host runs at a time, and the accounts that use the host share its result.
final class HostProbes {
    /// A host that accounts of one provider use.
    ///
    /// Probes are not shared between providers, because a plugin may name any host and report any result.
    struct Target: Hashable {
        let provider: String
        /// The origin, or the ID of an account without a host.
        let host: String
    }

    private var running: [Target: Task<ServiceHealth.Verdict, Never>] = [:]

    /// Probes a host after the probes in progress, unless one of them finds the host unreachable.
    ///
    /// - Parameters:
    ///   - target: The host.
    ///   - probe: Sends a request, and returns its result.
    /// - Returns: The result, which may be that of another account.
    func probe(
        _ target: Target, _ probe: @escaping @MainActor () async -> ServiceHealth.Verdict
    ) async -> ServiceHealth.Verdict {
        while let other = running[target] {
            let verdict = await other.value
            if case .unreachable = verdict { return verdict }
        }
        let task = Task {
            defer { running[target] = nil }
            return await probe()
        }
        running[target] = task
        return await task.value
    }
}

/// The state of the disk with the cache: full, or with free space.
///
/// The state changes when a write fails, and when ``check()`` finds free space. Nothing is polled.
nonisolated final class DiskWatch: Sendable {
    /// The free space that ends the state "full". It holds several pages of photos and an image.
    private static let requiredBytes: UInt64 = 4 << 20

    /// Called with ``isFull`` after each failed write and each successful check. Set once, by ``Engine/init``.
    @MainActor var onChange: ((Bool) -> Void)?
    private let folder: String
    private let state = Atomic(false)

    /// - Parameter folder: A folder on the disk.
    init(folder: String) { self.folder = folder }

    var isFull: Bool { state.load(ordering: .relaxed) }

    /// Records that a write failed because the disk is full.
    @MainActor func recordFullDisk() {
        state.store(true, ordering: .relaxed)
        onChange?(true)
    }

    /// Checks if the disk has free space again.
    @MainActor func check() {
        var disk = statvfs()
        guard statvfs(folder, &disk) == 0,
            UInt64(disk.f_bavail) * UInt64(disk.f_frsize) >= Self.requiredBytes
        else { return }
        state.store(false, ordering: .relaxed)
        onChange?(false)
    }
}
