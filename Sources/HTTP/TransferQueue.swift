/// The order in which transfers start, and the limits of the transfers that run at a time.
///
/// libcurl can queue transfers, too, but its connection timeout includes the time in its queue. This queue therefore
/// starts at most as many transfers as libcurl has connections.
///
/// Requests start before downloads, and a part of the connections is reserved for each kind: slow images do not delay
/// requests, and requests do not block images. Within a kind, the transfers of built-in providers start first, and the
/// hosts are served in turn. The transfers of one host start in the order of their arrival.
///
/// The connections of each plugin, and of all plugins together, are limited in total and per host, so that connections
/// remain for built-in providers. The transfers of the plugin with the fewest running transfers start first. The time
/// complexity of a change is linear in the number of hosts with waiting transfers, and in that of running transfers; that
/// of the removal of a waiting transfer is linear in the number of those.
///
/// This type only decides; ``CurlClient`` acts on its decisions.
nonisolated struct TransferQueue<Host: Hashable, ID: Hashable> {
    /// The transfers that are scheduled together: those of a kind to one host for one plugin, or for all built-in
    /// providers.
    private struct Lane: Hashable {
        let isDownload: Bool
        let host: Host
        let plugin: String?
    }

    private let limits: Limits
    /// The lanes with waiting transfers, the next one first, and their transfers, the next one first.
    private var waiting: [(lane: Lane, transfers: [ID])] = []
    /// The lanes of the running transfers, which are at most as many as there are connections.
    private var running: [ID: Lane] = [:]

    init(limits: Limits) { self.limits = limits }

    /// Adds a transfer at the end of the line of its host.
    ///
    /// - Parameters:
    ///   - id: The identifier of the transfer; not in the queue yet.
    ///   - host: The host of the transfer.
    ///   - isDownload: True for a download, whose response is written to a file; false for a request, whose response is
    ///     read into memory.
    ///   - plugin: The plugin that the transfer is for; nil for a built-in provider.
    /// - Returns: The transfers to start now, in this order. They count as running.
    mutating func add(
        _ id: ID, to host: Host, isDownload: Bool = false, for plugin: String? = nil
    ) -> [ID] {
        let lane = Lane(isDownload: isDownload, host: host, plugin: plugin)
        if let index = waiting.firstIndex(where: { $0.lane == lane }) {
            waiting[index].transfers.append(id)
        } else {
            waiting.append((lane, [id]))
        }
        return admit()
    }

    /// Removes a transfer that ended or was cancelled.
    ///
    /// - Returns: The transfers to start now, in this order. They count as running.
    mutating func remove(_ id: ID) -> [ID] {
        if running.removeValue(forKey: id) != nil { return admit() }
        for index in waiting.indices { waiting[index].transfers.removeAll { $0 == id } }
        waiting.removeAll { $0.transfers.isEmpty }
        return []
    }

    /// Removes all transfers that wait.
    mutating func removeWaiting() { waiting = [] }

    private mutating func admit() -> [ID] {
        var admitted: [ID] = []
        for isDownload in [false, true] {
            for isForPlugins in [false, true] {
                while permits(isDownload: isDownload),
                    let index = nextLane(isDownload: isDownload, isForPlugins: isForPlugins)
                {
                    // The lane becomes the last one.
                    var (lane, transfers) = waiting.remove(at: index)
                    let id = transfers.removeFirst()
                    if !transfers.isEmpty { waiting.append((lane, transfers)) }
                    running[id] = lane
                    admitted.append(id)
                }
            }
        }
        return admitted
    }

    /// Returns the index of the lane whose next transfer may start: that of the plugin with the fewest transfers, or the
    /// first one.
    private func nextLane(isDownload: Bool, isForPlugins: Bool) -> Int? {
        let indices = waiting.indices.lazy.filter { index in
            let lane = waiting[index].lane
            return lane.isDownload == isDownload && (lane.plugin != nil) == isForPlugins
                && permits(lane)
        }
        guard isForPlugins else { return indices.first }
        return indices.min {
            runningCount(of: waiting[$0].lane.plugin) < runningCount(of: waiting[$1].lane.plugin)
        }
    }

    private func runningCount(of plugin: String?) -> Int {
        running.values.count { $0.plugin == plugin }
    }

    private func permits(isDownload: Bool) -> Bool {
        guard running.count < limits.connections else { return false }
        return !isDownload || running.values.count(where: \.isDownload) < limits.downloads
    }

    /// Returns true if a transfer of a lane may start. Its kind is permitted.
    private func permits(_ lane: Lane) -> Bool {
        let atHost = running.values.filter { $0.host == lane.host }
        guard atHost.count < limits.connectionsPerHost else { return false }
        guard let plugin = lane.plugin else {
            let same = atHost.count { $0.plugin == nil && $0.isDownload == lane.isDownload }
            return same < limits.transfersPerHost
        }
        let ofPlugins = running.values.filter { $0.plugin != nil }
        let own = ofPlugins.filter { $0.plugin == plugin }
        guard atHost.count(where: { $0.plugin != nil }) < limits.transfersPerHost,
            own.count < limits.transfersPerPlugin, ofPlugins.count < limits.pluginTransfers
        else { return false }
        guard lane.isDownload else { return true }
        return own.count(where: \.isDownload) < limits.downloadsPerPlugin
            && ofPlugins.count(where: \.isDownload) < limits.pluginDownloads
    }
}
