import FoundationEssentials
package import Testing

/// Repeats a comparison of times, which other programs disturb, until one of at most six undisturbed rounds is within its
/// limits.
///
/// A round in which the hypervisor of a virtual machine withdrew processor time proves nothing when it exceeds a limit. If
/// all rounds are of this kind, the comparison ends with a warning.
///
/// - Parameters:
///   - isolation: The actor on which `body` runs.
///   - sourceLocation: The place of the test.
///   - body: Measures a round, and returns a description of the times if these exceed a limit.
/// - Throws: The error of `body`.
package func compareTimes(
    isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> String?
) async throws {
    var (undisturbed, disturbed) = (0, 0)
    while true {
        let start = try MachineTime()
        guard let excess = try await body() else { return }
        let share = try MachineTime().withdrawnShare(since: start)
        if share > MachineTime.largestShare { disturbed += 1 } else { undisturbed += 1 }
        if undisturbed == 6 {
            Issue.record("\(excess)", sourceLocation: sourceLocation)
            return
        }
        if disturbed == 3 {
            Issue.record(
                "not compared, because the hypervisor withdrew \(Int(share * 100)) % of the processor time: \(excess)",
                severity: .warning, sourceLocation: sourceLocation)
            return
        }
    }
}

/// The processor time of the machine since its start, in ticks, from `/proc/stat` (proc_stat(5)).
private struct MachineTime {
    /// The largest share of withdrawn time in an undisturbed round.
    static let largestShare = 0.03

    private let withdrawn: Int
    private let total: Int

    init() throws {
        let text = try String(contentsOf: URL(filePath: "/proc/stat"), encoding: .utf8)
        // user, nice, system, idle, iowait, irq, softirq and steal. The times of guests are part of the first two.
        let fields = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().prefix(8)
            .compactMap { Int($0) }
        total = fields.reduce(0, +)
        withdrawn = fields.count == 8 ? fields[7] : 0
    }

    func withdrawnShare(since start: MachineTime) -> Double {
        Double(withdrawn - start.withdrawn) / Double(max(1, total - start.total))
    }
}
