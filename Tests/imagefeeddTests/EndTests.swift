import Contract
import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the exit of the daemon while the bus does not respond.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct EndTests {
    /// The daemon has 1.5 s for its exit. Without its limit, it would not end while the bus is stopped. This limit is
    /// longer, because the machine may be slow.
    private static let limit = Duration.seconds(60)

    /// Ends a process with `SIGTERM`, and expects that it exits in time with status 0.
    private func expectEnd(_ process: ChildProcess) async throws {
        let start = ContinuousClock.now
        process.terminate()
        #expect(try await process.exitStatus() == .code(0))
        #expect(ContinuousClock.now - start < Self.limit)
    }

    /// Returns the processor time of a process in clock ticks.
    private func processorTime(_ process: ChildProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.id)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 13 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
    }

    @Test func `a bus that does not read does not delay the exit`() async throws {
        try Pictures.add((0..<30).map { "\($0)" })
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        #expect(try await client.titles(account).count == 30)
        let before = try processorTime(daemon.process)
        let bus = try PrivateBus.current.daemon
        daemon.process.kill(SIGSTOP)
        // The replies are larger than the buffer of a socket.
        let calls = (0..<400).map { _ in
            Task.immediate { _ = try? await account.page("", cursor: "", count: 30) }
        }
        // The bus has handled the calls when it replies to this one.
        _ = try await client.connection.owner(of: ServiceName.bus)
        bus.kill(SIGSTOP)
        daemon.process.kill(SIGCONT)
        // Wait until the daemon has filled the socket with replies and is blocked; no event reports that.
        var (last, same) = (before, 0)
        for _ in 0..<500 where same < 20 {
            try await Task.sleep(for: .milliseconds(10))
            let now = try processorTime(daemon.process)
            same = now == last && now > before ? same + 1 : 0
            last = now
        }
        try await expectEnd(daemon.process)
        bus.kill(SIGCONT)
        for call in calls { await call.value }
    }

    @Test func `a bus that does not respond at the start does not delay the exit`() async throws {
        let bus = try PrivateBus.current.daemon
        bus.kill(SIGSTOP)
        defer { bus.kill(SIGCONT) }
        let process = try RunningDaemon.start()
        // Wait until the signals have handlers; no event reports that.
        let mask: UInt64 = 1 << UInt64(SIGINT - 1) | 1 << UInt64(SIGTERM - 1)
        while process.isRunning {
            let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            let caught = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            if caught & mask == mask { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        try await expectEnd(process)
    }
}
