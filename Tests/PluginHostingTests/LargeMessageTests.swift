import Dispatch
import HTTP
import LoopbackHTTP
import ProviderKit
import TestSupport
import Testing

@testable import PluginHosting

/// Messages that take time or memory: their limits, and their order.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct LargeMessageTests {
    @Test(arguments: [#"{"":0}"#, "[[]]", "0", "{}"])
    func `a message with too many values fails`(_ element: String) async throws {
        let plugin = try PluginFixture(
            """
            text = ",".join(['\(element)'] * 70_000)
            sys.stdout.write('{"jsonrpc":"2.0","id":2,"result":[' + text + ']}\\n'); sys.stdout.flush()
            """)
        await plugin.expectFailure("more than 65536 values")
    }

    @Test func `text with many brackets and commas is not counted as values`() async throws {
        let plugin = try PluginFixture(#"show('{[,:"\\' * 20_000)"#)
        let shown = try #require(try await plugin.shown())
        #expect(shown.hasPrefix(#"{[,:"\{[,:"\"#))
    }

    @Test func `a short message after a long one is handled after it`() async throws {
        let plugin = try PluginFixture(
            """
            for number in range(5):
                for size in (300_000, 10, 40_000):
                    write({"method": "log", "params": {"message": str(number) + " " + "x" * size}})
            show("sent")
            """)
        #expect(try await plugin.shown() == "sent")
        let numbers = plugin.log.value.filter { $0.hasPrefix("Odd photos: ") }
            .compactMap { $0.dropFirst(12).first }
        #expect(numbers == Array("000111222333444"))
    }

    @Test func `a long answer of a plugin that exits at once is used`() async throws {
        let plugin = try PluginFixture(
            """
            answer({"photos": [{"id": "1", "title": "here", "unused": "x" * 2_000_000}]})
            os._exit(0)
            """)
        #expect(try await plugin.shown() == "here")
        try await plugin.logged("A plugin has ended")
    }

    @Test func `a long log message is cut`() async throws {
        let plugin = try PluginFixture(
            """
            write({"method": "log", "params": {"message": "é" * 1_000_000}})
            show("sent")
            """)
        #expect(try await plugin.shown() == "sent")
        let line = try #require(plugin.log.value.first { $0.hasPrefix("Odd photos: é") })
        #expect(line.count < 1100)
        #expect(!line.contains("\u{FFFD}"))
    }

    @Test func `a long message does not wait for work on those of another plugin`() async throws {
        let busy = try PluginFixture()
        let work = try await busy.connection().work
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let isBusy = Observed(false)
        let long = Task {
            await work.run(bytes: .max) {
                isBusy.update { $0 = true }
                end.wait()
            }
        }
        defer { long.cancel() }
        try await isBusy.wait { $0 ? true : nil }
        let plugin = try PluginFixture(
            """
            answer({"photos": [{"id": "1", "title": "here", "unused": "x" * 2_000_000}]})
            """)
        #expect(try await plugin.shown() == "here")
    }

    @Test func `the bodies of the requests of a plugin have a limit together`() async throws {
        let server = try LoopbackServer(LoopbackResponse(steps: [.silence]))
        let plugin = try PluginFixture(
            """
            for number in range(2):
                write({"id": str(number), "method": "http", "params": {
                    "account": account, "url": "\(server.origin)/", "method": "POST", "body": "x" * (5 << 20)}})
            reply = json.loads(sys.stdin.readline())
            show([reply["id"], reply["error"]["data"]["kind"], reply["error"]["message"]])
            """, hosts: "\(server.origin);", http: CurlClient(userAgent: "Test") {})
        let shown = try #require(try await plugin.shown())
        #expect(shown.hasPrefix("['1', 'failed', 'The bodies of the running"), "\(shown)")
    }

    // MARK: Processor time

    @Test func `too much processor time of the daemon disables the plugin`() async throws {
        let plugin = try PluginFixture(
            """
            values = [0] * 60_000
            while True: write({"method": "log", "params": {"message": "x", "more": values}})
            """, limits: .quick { $0.daemonProcessorTime = .milliseconds(50) })
        for _ in 0..<5 {
            await plugin.expectFailure("more than 0.1 seconds of the daemon's processor time in")
        }
        #expect(plugin.provider.condition.state == .disabled)
        #expect(plugin.disablements.value.count == 1)
        #expect(plugin.log.value.count { $0.contains("A plugin failed") } == 5)
    }

    /// The test records the processor time, because that of real calls depends on the machine.
    @Test func `a plugin that only answers is delayed instead of disabled`() async throws {
        var limits = PluginFixture.quick
        limits.daemonProcessorTime = .seconds(1000)
        limits.processorWindow = .seconds(10_000)
        let plugin = try PluginFixture("show('here')", limits: limits)
        let connection = try await plugin.connection()
        let start = ContinuousClock.now
        // Three tenths of the limit cause no delay, and each further second one of 10 seconds.
        connection.work.record(.seconds(300) + .milliseconds(50))
        #expect(try await plugin.shown() == "here")
        #expect(ContinuousClock.now - start >= .milliseconds(450))
        #expect(!connection.isOver)
        #expect(!plugin.log.value.contains { $0.contains("A plugin failed") })
    }

    @Test func `processor time in another window is not counted`() async throws {
        var limits = PluginFixture.quick
        limits.daemonProcessorTime = .seconds(10)
        limits.processorWindow = .milliseconds(1)
        let plugin = try PluginFixture("show('here')", limits: limits)
        let connection = try await plugin.connection()
        for _ in 0..<3 {
            connection.work.record(.seconds(6))
            let end = ContinuousClock.now + .milliseconds(1)
            try await poll { ContinuousClock.now > end }
        }
        #expect(!connection.isOver)
        #expect(plugin.provider.condition.state == .ready)
    }

    // MARK: Errors

    @Test func `of many lines on the standard error few are logged`() async throws {
        let start = ContinuousClock.now
        let plugin = try PluginFixture(
            "os.write(2, b'\\n' * 60_000 + b'last words\\n'); show('written')")
        #expect(try await plugin.shown() == "written")
        plugin.expectFewLogLines(since: start)
    }
}

extension PluginFixture {
    /// Returns the running plugin, and starts it if it does not run.
    fileprivate func connection() async throws -> PluginConnection {
        let installed = try #require(self.provider as? Plugin)
        return try await installed.running()
    }
}
