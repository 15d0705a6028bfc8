import Contract
import DBus
import Foundation
import TestSupport
import Testing

@MainActor @Suite(.privateBus, .timeLimit(.minutes(10))) struct MonitorTests {
    /// Waits for a number of events and returns the names of all events so far.
    private func events(_ count: Int, of monitor: ChildProcess) async throws -> [String] {
        try await monitor.lines(count).map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(object?["event"] as? String)
        }
    }

    @Test func `monitor continues after a restart of the daemon and reports it`() async throws {
        let bus = try PrivateBus.current
        let monitor = try Control.start(["monitor", "--json"])
        #expect(try await events(1, of: monitor) == ["daemon-gone"])
        for start in [1, 4] {
            try await FakeService.run { service in
                _ = try await events(start + 1, of: monitor)
                service.accountObject.emit(.feed, "Updated", "all", 2 as UInt32)
                _ = try await events(start + 2, of: monitor)
            }
            _ = try await events(start + 3, of: monitor)
        }
        let cycle = ["daemon-back", "photos-updated", "daemon-gone"]
        #expect(try await events(7, of: monitor) == ["daemon-gone"] + cycle + cycle)
        monitor.kill(SIGINT)
        let result = try await monitor.result(status: 0)
        #expect(result.error == "")
        #expect(try await bus.connect().owner(of: ServiceName.bus) == nil)
    }

    @Test func `monitor ends after the requested number of events`() async throws {
        let monitor = try Control.start(["monitor", "--json", "--count", "3"])
        #expect(try await events(1, of: monitor) == ["daemon-gone"])
        try await FakeService.run { service in
            _ = try await events(2, of: monitor)
            for _ in 0..<3 { service.accountObject.emit(.feed, "Updated", "all", 2 as UInt32) }
            let result = try await monitor.result(status: 0)
            #expect(result.error == "")
        }
        #expect(
            try await events(3, of: monitor) == ["daemon-gone", "daemon-back", "photos-updated"])
    }

    @Test func `monitor does not start the daemon`() async throws {
        let bus = try PrivateBus.current
        let mark = bus.directory.appending("started")
        try bus.addService(ServiceName.bus, command: "/usr/bin/touch \(mark)")
        let monitor = try Control.start(["monitor"])
        #expect(try await monitor.firstLine().contains("daemon-gone"))
        monitor.kill(SIGINT)
        #expect(try await monitor.exitStatus() == .code(0))
        #expect(!bus.directory.has("started"))
    }

    @Test func `monitor ends with the reader of its output`() async throws {
        let result = try await Control.shell("{ \"$CTL\" monitor; echo $? >&2; } | head -n 1")
        #expect(result.output.contains("daemon-gone"))
        #expect(result.error == "0\n")
    }

    @Test func `monitor ends with the bus`() async throws {
        let monitor = try Control.start(["monitor"])
        _ = try await monitor.firstLine()
        try await PrivateBus.current.stop()
        #expect(try await monitor.exitStatus() == .code(69))
    }
}
