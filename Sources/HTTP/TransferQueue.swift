/// The kinds of transfers.
nonisolated enum TransferKind: CaseIterable {
    /// A response that is read into memory.
    case request
    /// A response that is written to a file.
    case download
}

/// The order in which transfers start, and the limits of the transfers that run at a time.
///
/// libcurl can queue transfers, too, but its limit for connecting also covers the time in its queue. This
/// queue therefore admits no more transfers than libcurl has connections for.
///
/// Requests start before downloads, and a part of the connections is reserved for each kind: slow images do
/// not delay requests, and requests do not stop images. Within a kind, the hosts take turns, and the transfers
/// of one host start in the order of their arrival. The time complexity of a change is linear in the number of
/// hosts with waiting transfers.
///
/// A value without side effects: ``Admission`` acts on its decisions.
nonisolated struct TransferQueue<Host: Hashable, ID: Hashable> {
    private struct Entry {
        let host: Host
        let kind: TransferKind
    }

    /// The numbers of running transfers.
    private struct Counts {
        var requests = 0
        var downloads = 0

        var total: Int { requests + downloads }

        subscript(kind: TransferKind) -> Int {
            get { kind == .request ? requests : downloads }
            set { if kind == .request { requests = newValue } else { downloads = newValue } }
        }
    }

    /// The waiting transfers of one kind.
    private struct Line {
        /// The hosts with waiting transfers, the next one first.
        var hosts: [Host] = []
        var transfers: [Host: [ID]] = [:]

        mutating func append(_ id: ID, _ host: Host) {
            if transfers[host] == nil { hosts.append(host) }
            transfers[host, default: []].append(id)
        }

        mutating func remove(_ id: ID, _ host: Host) {
            transfers[host]?.removeAll { $0 == id }
            dropIfEmpty(host)
        }

        /// Removes the first transfer of a host, which goes to the end of the line.
        mutating func removeFirst(of host: Host) -> ID? {
            guard let id = transfers[host]?.first else { return nil }
            transfers[host]?.removeFirst()
            hosts.removeAll { $0 == host }
            hosts.append(host)
            dropIfEmpty(host)
            return id
        }

        private mutating func dropIfEmpty(_ host: Host) {
            guard transfers[host]?.isEmpty == true else { return }
            transfers[host] = nil
            hosts.removeAll { $0 == host }
        }
    }

    private let limits: Limits
    private var waiting: [ID: Entry] = [:]
    private var running: [ID: Entry] = [:]
    private var lines: [TransferKind: Line] = [:]
    private var counts: [Host: Counts] = [:]
    private var all = Counts()

    init(limits: Limits) { self.limits = limits }

    /// Adds a transfer at the end of the line of its host.
    ///
    /// - Parameters:
    ///   - id: The identifier of the transfer; not in the queue yet.
    ///   - kind: The kind of the transfer.
    ///   - host: The host of the transfer.
    /// - Returns: The transfers to start now, in this order. They count as running.
    mutating func add(_ id: ID, _ kind: TransferKind, to host: Host) -> [ID] {
        waiting[id] = Entry(host: host, kind: kind)
        lines[kind, default: Line()].append(id, host)
        return admit()
    }

    /// Removes a transfer that ended, or that is not to start any more.
    ///
    /// - Returns: The transfers to start now, in this order. They count as running.
    mutating func remove(_ id: ID) -> [ID] {
        if let entry = waiting.removeValue(forKey: id) {
            lines[entry.kind]?.remove(id, entry.host)
            return []
        }
        guard let entry = running.removeValue(forKey: id) else { return [] }
        count(entry, by: -1)
        return admit()
    }

    /// Removes all transfers that wait.
    mutating func removeWaiting() {
        waiting = [:]
        lines = [:]
    }

    private mutating func admit() -> [ID] {
        var admitted: [ID] = []
        for kind in TransferKind.allCases {
            var isChanged = true
            while isChanged, permits(kind) {
                isChanged = false
                for host in lines[kind]?.hosts ?? [] where permits(kind, at: host) {
                    guard let id = lines[kind]?.removeFirst(of: host),
                        let entry = waiting.removeValue(forKey: id)
                    else { continue }
                    running[id] = entry
                    count(entry, by: 1)
                    admitted.append(id)
                    isChanged = true
                }
            }
        }
        return admitted
    }

    private func permits(_ kind: TransferKind) -> Bool {
        all.total < limits.connections && (kind == .request || all.downloads < limits.downloads)
    }

    private func permits(_ kind: TransferKind, at host: Host) -> Bool {
        let counts = counts[host] ?? Counts()
        return permits(kind) && counts.total < limits.connectionsPerHost
            && counts[kind] < limits.transfersPerHost
    }

    private mutating func count(_ entry: Entry, by difference: Int) {
        all[entry.kind] += difference
        var counts = counts[entry.host] ?? Counts()
        counts[entry.kind] += difference
        self.counts[entry.host] = counts.total > 0 ? counts : nil
    }
}
