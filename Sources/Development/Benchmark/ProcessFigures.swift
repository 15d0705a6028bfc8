/// What the kernel tells of a process.
struct ProcessFigures {
    private let directory: String

    init(_ id: Int32) { directory = "/proc/\(id)" }

    private var threads: [String] {
        get throws { try names(in: "\(directory)/task").map { "\(directory)/task/\($0)" } }
    }

    /// How many processes it has started that have not ended.
    func childCount() throws -> Int {
        try threads.map { try readFile("\($0)/children").split(separator: " ").count }
            .reduce(0, +)
    }

    func threadCount() throws -> Int { try threads.count }

    /// How long its threads have run.
    func processorTime() throws -> Duration {
        let nanoseconds = try threads.map { thread in
            try Int(readFile("\(thread)/schedstat").prefix { $0 != " " }) ?? 0
        }
        return .nanoseconds(nanoseconds.reduce(0, +))
    }

    /// How often each of its threads has been woken or interrupted.
    func contextSwitches() throws -> [String: Int] {
        var switches: [String: Int] = [:]
        for thread in try threads {
            let status = try readFile("\(thread)/status")
            switches[thread] =
                number("voluntary_ctxt_switches", in: status)
                + number("nonvoluntary_ctxt_switches", in: status)
        }
        return switches
    }

    /// Its time in user and in system mode, in ticks of the clock.
    func ticks() throws -> Int {
        // The name of the program, in parentheses, may hold anything.
        let fields = try readFile("\(directory)/stat").split(separator: ")").last?.split(
            separator: " ")
        guard let fields, fields.count > 12 else { throw BenchmarkError("stat is cut short") }
        return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }

    struct Memory {
        let privateDirty: Int
        let resident: Int

        func rows(_ moment: String) -> [Table.Row] {
            [
                Table.Row("Memory, private dirty, \(moment)", "\(privateDirty) KiB"),
                Table.Row("Memory, resident, \(moment)", "\(resident) KiB"),
            ]
        }
    }

    /// Its memory in KiB.
    func memory() throws -> Memory {
        let text = try readFile("\(directory)/smaps_rollup")
        return Memory(
            privateDirty: number("Private_Dirty", in: text), resident: number("Rss", in: text))
    }

    /// The number of the line `name: number`.
    private func number(_ name: String, in text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        let words = line?.split { $0 == " " || $0 == "\t" } ?? []
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}
