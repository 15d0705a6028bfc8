/// The evidence of file system events that a file was replaced or overwritten while its name was never free, as editors
/// do it.
///
/// Evidence is kept until a scan that began after the report of the events has compared the file with the index. Other
/// scans may compare the file earlier, and scans may fail to read it.
///
/// Events are counted in periods, each of which ends with a report.
struct ReplacementEvidence {
    private struct Events {
        /// The period of the last event.
        var last: Int
        /// The last period in which the name was free; nil if it never was.
        var lastFree: Int?
    }

    /// The number of periods that have ended.
    private(set) var endedPeriods = 0
    private var events: [RelativePath: Events] = [:]
    /// The last period in which events were lost; nil if there was none since the last scan of everything.
    private var lastLoss: Int?

    /// Records an event of the present period.
    ///
    /// - Parameters:
    ///   - path: The path of a file or folder.
    ///   - isFree: True if the name is free after the event, or was free before it.
    mutating func record(_ path: RelativePath, isFree: Bool) {
        let period = endedPeriods + 1
        events[path, default: Events(last: period)].last = period
        if isFree { events[path]?.lastFree = period }
    }

    /// Records that events of the present period were lost.
    mutating func recordLoss() { lastLoss = endedPeriods + 1 }

    /// Ends the present period, because its events are reported.
    mutating func endPeriod() { endedPeriods += 1 }

    /// Returns true if the name of a file was free.
    func wasFree(_ path: RelativePath) -> Bool { events[path]?.lastFree != nil }

    /// Returns true if there were events of the file, and its name and those of its folders were never free.
    func isReplacement(_ path: RelativePath) -> Bool {
        lastLoss == nil && events[path] != nil && !path.isOrIsBelow(where: wasFree)
    }

    /// Removes the evidence that a complete scan has used.
    ///
    /// - Parameters:
    ///   - begin: ``endedPeriods`` at the beginning of the scan.
    ///   - paths: The compared paths; nil for everything.
    ///   - unfinished: The files and folders that could not be compared.
    mutating func endScan(
        begin: Int, _ paths: [RelativePath]?, except unfinished: Set<RelativePath>
    ) {
        for path in paths ?? Array(events.keys) {
            guard let before = events[path], !path.isOrIsBelow(where: unfinished.contains) else {
                continue
            }
            if before.last <= begin {
                events[path] = nil
            } else if let free = before.lastFree, free <= begin {
                events[path]?.lastFree = nil
            }
        }
        guard paths == nil, let loss = lastLoss, loss <= begin else { return }
        for path in unfinished { events[path, default: Events(last: loss)].lastFree = loss }
        lastLoss = nil
    }
}
