internal import Glibc

/// A message bus for the daemon and the benchmark.
struct PrivateBus {
    let address: String
    /// The environment of a program that uses this bus.
    let environment: [String: String]

    init(environment: [String: String]) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchmarkError.system("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = try ChildProcess(
            "dbus-daemon", ["--session", "--nofork", "--nopidfile", "--print-address=3"],
            environment: environment, descriptors: [3: ends[1]])
        close(ends[1])
        defer { close(ends[0]) }
        address = String(read(ends[0], upToLine: true).prefix { $0 != "\n" })
        guard !address.isEmpty else { throw BenchmarkError("dbus-daemon did not start") }
        self.environment = environment.merging(["DBUS_SESSION_BUS_ADDRESS": address]) { $1 }
    }
}
