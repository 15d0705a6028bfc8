import TestSupport
import Testing

/// Tests of the event loop in a process of its own, and of the same types in programs without it.
@Suite(.timeLimit(.minutes(10)))
struct MainLoopTests {
    enum Driver: String, CaseIterable {
        case loop, dispatch
    }

    /// Runs a scenario of `event-loop-scenarios`.
    ///
    /// - Returns: The lines that it printed.
    private func lines(_ driver: Driver, _ scenario: String) async throws -> [String] {
        let folder = try TemporaryDirectory()
        let program = try ChildProcess(
            BuiltProducts.path("event-loop-scenarios"), [driver.rawValue, scenario],
            environment: folder.environment)
        let result = try await program.result()
        #expect(result.exit == .code(0), "\(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }

    // MARK: Descriptors

    @Test(arguments: Driver.allCases)
    func `the loop reports each ready descriptor once`(_ driver: Driver) async throws {
        let subsets = (1..<16).map { subset in
            (0..<4).filter { subset & 1 << $0 != 0 }.map { "\($0)" }.joined(separator: " ")
        }
        #expect(try await lines(driver, "subsets") == subsets + ["end"])
    }

    @Test(arguments: Driver.allCases)
    func `a source that an earlier handler suspends is reported after it resumes`(
        _ driver: Driver
    ) async throws {
        #expect(try await lines(driver, "suspend") == ["first", "resumed", "second", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `a source that an earlier handler cancels is not reported`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "cancel") == ["first", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `a new descriptor does not inherit the readiness of a cancelled one`(
        _ driver: Driver
    ) async throws {
        #expect(try await lines(driver, "reuse") == ["first", "same number", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `a source that cancels itself is not reported again`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "cancel-self") == ["once", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `the end of a file is reported`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "end-of-file") == ["read 1", "read 0", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `a full pipe that loses its reader is reported`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "lost-reader") == ["EPIPE"])
    }

    @Test(arguments: Driver.allCases)
    func `signals do not end the wait`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "interrupt") == ["interrupted", "read 1"])
    }

    @Test(arguments: Driver.allCases)
    func `a thousand descriptors are reported once each`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "many") == ["1000 handlers"])
    }

    @Test func `an idle process has one thread that does not wake up`() async throws {
        #expect(try await lines(.loop, "idle") == ["task", "1 threads, 0 wakeups"])
    }

    // MARK: The main queue

    @Test func `the main queue runs in order, before and after the handlers`() async throws {
        #expect(try await lines(.loop, "queue") == ["1", "2", "3", "handler", "end"])
    }

    @Test func `tasks run on the main thread`() async throws {
        #expect(try await lines(.loop, "tasks") == ["main actor", "main thread", "5050", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `work from other threads runs`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "threads") == ["4000"])
    }

    @Test(arguments: ["busy-queue", "busy-tasks"])
    func `a busy main queue does not starve descriptors`(_ scenario: String) async throws {
        #expect(try await lines(.loop, scenario) == ["reported"])
    }

    @Test func `a busy descriptor does not starve the main queue`() async throws {
        #expect(try await lines(.loop, "busy-descriptor") == ["main queue"])
    }

    /// A failure says that a version of the Swift libraries needs another way; `CSwiftRuntime` names it.
    @Test func `the private functions of the Swift libraries work`() async throws {
        #expect(
            try await lines(.loop, "private-functions") == [
                "_dispatch_get_main_queue_handle_4CF: ready true",
                "_dispatch_main_queue_callback_4CF: called true",
                "swift_task_enqueueGlobal_hook: main thread true",
            ])
    }

    // MARK: Timers and child processes

    @Test(arguments: Driver.allCases)
    func `timers fire in the order of their deadlines`(_ driver: Driver) async throws {
        let zero = (1...3).map { "zero \($0)" }
        #expect(
            try await lines(driver, "timer-order")
                == ["started"] + zero + ["2", "4", "6", "8", "10", "end"])
    }

    @Test(arguments: Driver.allCases)
    func `bytes that arrived are reported before a timer that is due`(_ driver: Driver) async throws
    {
        #expect(try await lines(driver, "timer-late") == ["bytes", "timer"])
    }

    @Test(arguments: Driver.allCases)
    func `a cancelled timer and a dropped timer do not fire`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "timer-cancel") == ["first false", "last"])
    }

    @Test(arguments: Driver.allCases)
    func `a timer that is started again has the last deadline`(_ driver: Driver) async throws {
        let fired = (1...3).map { "fired \($0)" }
        #expect(try await lines(driver, "timer-restart") == fired + ["end"])
    }

    @Test(arguments: Driver.allCases)
    func `no timer fires early`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "timer-deadline") == ["0 early"])
    }

    @Test(arguments: Driver.allCases)
    func `a timer without delay does not starve the loop`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "timer-zero") == ["main queue"])
    }

    @Test(arguments: Driver.allCases)
    func `a busy descriptor does not starve timers`(_ driver: Driver) async throws {
        #expect(try await lines(driver, "timer-busy") == ["fired"])
    }

    @Test func `timers need no thread and no wakeup before their deadline`() async throws {
        #expect(try await lines(.loop, "timer-idle") == ["1 threads, 0 wakeups"])
    }

    @Test(arguments: Driver.allCases)
    func `a sleep ends at its deadline and on cancellation`(_ driver: Driver) async throws {
        #expect(
            try await lines(driver, "clock")
                == ["slept", "CancellationError()", "CancellationError()", "end"])
    }

    @Test func `waiting for a child process needs no thread`() async throws {
        #expect(try await lines(.loop, "process") == ["code(3)", "1 threads, 0 wakeups"])
    }
}
