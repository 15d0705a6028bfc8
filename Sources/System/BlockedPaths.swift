/// The paths at which threads of ``FileThreads`` are blocked, and the decision whether a job for a path may start.
///
/// Times are nanoseconds of a monotonic clock.
struct BlockedPaths {
    /// The largest number of suspended paths.
    private static let maximumSuspended = 1000

    /// The folder whose parts have separate limits.
    var root: [UInt8] = []
    private let limits: FileThreads.Limits
    /// The path of each blocked thread, and the time before which no job for the path starts.
    private var threads: [Int: (path: [UInt8], retryTime: UInt64)] = [:]
    /// Paths that did not respond to another process, and the time until which they count as unavailable.
    private var suspended: [[UInt8]: UInt64] = [:]

    init(_ limits: FileThreads.Limits) { self.limits = limits }

    /// The number of threads that are blocked.
    var threadCount: Int { threads.count }

    private var retryInterval: UInt64 { UInt64(limits.retryInterval.nanoseconds) }

    /// Adds a thread that is blocked at a path.
    mutating func add(_ path: [UInt8], thread: Int, at now: UInt64) {
        threads[thread] = (path, now + retryDelay(path))
    }

    /// Removes a thread that returned. Returns true if it was blocked.
    mutating func remove(thread: Int) -> Bool { threads.removeValue(forKey: thread) != nil }

    /// Makes a path unavailable for a while.
    mutating func suspend(_ path: [UInt8], at now: UInt64) {
        if suspended.count >= Self.maximumSuspended {
            suspended = suspended.filter { $0.value > now }
        }
        guard suspended.count < Self.maximumSuspended else { return }
        suspended[path] = now + retryInterval
    }

    /// Returns true if a job for a path may start. Changes nothing.
    func permits(_ path: [UInt8], at now: UInt64) -> Bool {
        guard !threads.isEmpty || !suspended.isEmpty else { return true }
        var copy = self
        return copy.admit(path, at: now)
    }

    /// Decides whether a job for a path may start. If blocked threads prevent the start, but their retry time has come,
    /// this job may start, and later jobs wait for the next retry time.
    mutating func admit(_ path: [UInt8], at now: UInt64) -> Bool {
        guard !threads.isEmpty || !suspended.isEmpty else { return true }
        if let end = suspended[path] {
            guard end <= now else { return false }
            suspended[path] = nil
        }
        guard threads.count < limits.blocked else { return false }
        let part = part(path)
        var byFolder: [[UInt8]: [Int]] = [:]
        var inPart: [Int] = []
        var related: Set<Int> = []
        for (number, thread) in threads {
            if thread.path == path || Self.isBelow(path, thread.path) { related.insert(number) }
            let folder = Self.parent(thread.path)
            if Self.isBelow(path, folder) { byFolder[folder, default: []].append(number) }
            if self.part(thread.path) == part { inPart.append(number) }
        }
        for numbers in byFolder.values where numbers.count >= limits.blockedInFolder {
            related.formUnion(numbers)
        }
        if inPart.count >= limits.blockedInPart { related.formUnion(inPart) }
        guard related.allSatisfy({ (threads[$0]?.retryTime ?? 0) <= now }) else { return false }
        let retryTime = now + retryInterval
        for number in related { threads[number]?.retryTime = retryTime }
        return true
    }

    /// Returns the time for which a path counts as unavailable after another thread was blocked there.
    private func retryDelay(_ path: [UInt8]) -> UInt64 {
        let same = threads.values.count { $0.path == path }
        let part = part(path)
        let inPart = threads.values.count { self.part($0.path) == part }
        let exponent = min(max(same, inPart - limits.blockedInPart + 1, 0), 8)
        return retryInterval << (2 * UInt64(exponent))
    }

    /// Returns the folder whose blocked threads are counted together with those of `path`.
    private func part(_ path: [UInt8]) -> [UInt8] {
        guard !root.isEmpty, Self.isBelow(path, root) else { return Self.parent(path) }
        let rest = path[(root.count + 1)...]
        guard let end = rest.firstIndex(of: Self.slash) else { return root }
        return Array(path[..<end])
    }

    private static let slash = UInt8(ascii: "/")

    private static func isBelow(_ path: [UInt8], _ folder: [UInt8]) -> Bool {
        path.count > folder.count && path[folder.count] == slash && path.starts(with: folder)
    }

    private static func parent(_ path: [UInt8]) -> [UInt8] {
        Array(path[..<(path.lastIndex(of: slash) ?? path.startIndex)])
    }
}
