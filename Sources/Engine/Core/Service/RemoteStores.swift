internal import Accounts
internal import Feeds
internal import Images
internal import Likes
internal import ProviderKit

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
