package import EngineModel
package import Feeds
package import Images
package import Logging
package import ProviderKit
package import Storage

/// The stores that remote accounts share, with the clock and the logger.
package struct RemoteStores {
    package let feeds: FeedStore
    package let images: ImageStore
    package let disk: DiskWatch
    let probes = HostProbes()
    let clock: any Clock<Duration>
    let now: () -> Timestamp
    let logger: Logger

    /// - Parameters:
    ///   - cache: A store with ``FeedStore/format``.
    ///   - folder: The cache folder.
    ///   - limitBytes: The size limit of the image cache.
    ///   - http: Fetches images.
    ///   - clock: Measures pauses and time limits.
    ///   - now: Returns the current time.
    ///   - logger: The logger.
    package init(
        cache: Store, folder: String, limitBytes: Int, http: any HTTPClient,
        clock: any Clock<Duration>,
        now: @escaping () -> Timestamp, logger: Logger
    ) {
        self.clock = clock
        self.now = now
        self.logger = logger
        disk = DiskWatch(folder: folder)
        feeds = FeedStore(cache, disk: disk)
        images = ImageStore(
            folder: "\(folder)/images", limitBytes: limitBytes, disk: disk, http: http, now: now)
    }
}

/// A coordinator of probes. One probe of a host runs at a time, and the accounts that use the host share its result.
final class HostProbes {
    private var running: [String: Task<ServiceHealth.Verdict, Never>] = [:]

    /// Probes a host after the probes in progress, unless one of them finds the host unreachable.
    ///
    /// - Parameters:
    ///   - target: The provider and the host.
    ///   - probe: Sends a request, and returns its result.
    /// - Returns: The result, which may be that of another account.
    func probe(
        _ target: String, _ probe: @escaping @MainActor () async -> ServiceHealth.Verdict
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
