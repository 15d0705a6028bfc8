internal import Glibc
internal import System

/// The statistics of a process in `/proc`.
struct ProcessFigures {
    private let directory: String

    init(_ id: Int32) { directory = "/proc/\(id)" }

    private var threads: [String] {
        get throws {
            try DirectoryListing("\(directory)/task").names.map { "\(directory)/task/\($0)" }
        }
    }

    /// Returns the number of child processes.
    func childCount() throws -> Int {
        try threads.map { try readFile("\($0)/children").split(separator: " ").count }
            .reduce(0, +)
    }

    func threadCount() throws -> Int { try threads.count }

    /// Returns the processor time of all threads.
    func processorTime() throws -> Duration {
        let nanoseconds = try threads.map { thread in
            try Int(readFile("\(thread)/schedstat").prefix { $0 != " " }) ?? 0
        }
        return .nanoseconds(nanoseconds.reduce(0, +))
    }

    /// Returns the number of context switches of each thread.
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

    /// Returns the user and system time, in clock ticks.
    func ticks() throws -> Int {
        // The program name, in parentheses, may contain spaces.
        let fields = try readFile("\(directory)/stat").split(separator: ")").last?.split(
            separator: " ")
        guard let fields, fields.count > 12 else { throw BenchmarkError("stat is incomplete") }
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

    /// Returns the memory use in KiB.
    func memory() throws -> Memory {
        let text = try readFile("\(directory)/smaps_rollup")
        return Memory(
            privateDirty: number("Private_Dirty", in: text), resident: number("Rss", in: text))
    }

    /// Resets ``peakMemory()`` to the current value.
    func resetPeakMemory() throws {
        let file = open("\(directory)/clear_refs", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkError.system("clear_refs") }
        defer { close(file) }
        guard write(file, "5", 1) == 1 else { throw BenchmarkError.system("clear_refs") }
    }

    /// Returns the largest resident memory, in KiB.
    func peakMemory() throws -> Int {
        number("VmHWM", in: try readFile("\(directory)/status"))
    }

    /// Returns the number in the line `name: number`.
    private func number(_ name: String, in text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        let words = line?.split { $0 == " " || $0 == "\t" } ?? []
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}
