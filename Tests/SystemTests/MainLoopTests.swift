import TestSupport
import Testing

/// Tests of the event loop in a process of its own, and of the same types in programs without it.
@Suite(.timeLimit(.minutes(10)))
struct MainLoopTests {
    enum Driver: String, CaseIterable {
        case loop, dispatch
    }

    /// A scenario of `event-loop-scenarios`, and the lines that it prints.
    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let lines: [String]

        init(_ testDescription: String, _ name: String, _ lines: [String]) {
            self.testDescription = testDescription
            self.name = name
            self.lines = lines
        }
    }

    @Test(arguments: scenarios, Driver.allCases)
    func `the loop and Dispatch run a scenario in the same way`(
        _ scenario: Scenario, _ driver: Driver
    ) async throws {
        try await run(scenario, driver)
    }

    @Test(arguments: scenariosOfLoop)
    func `the loop runs a scenario that concerns only itself`(_ scenario: Scenario) async throws {
        try await run(scenario, .loop)
    }

    private func run(_ scenario: Scenario, _ driver: Driver) async throws {
        let folder = try TemporaryDirectory()
        let program = try ChildProcess(
            BuiltProducts.path("event-loop-scenarios"), [driver.rawValue, scenario.name],
            environment: folder.environment)
        let result = try await program.result()
        #expect(result.exit == .code(0), "\(result.error)")
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines == scenario.lines)
    }

    private static let subsets = (1..<16).map { subset in
        (0..<4).filter { subset & 1 << $0 != 0 }.map { "\($0)" }.joined(separator: " ")
    }

    private static let scenarios = [
        // MARK: Descriptors

        Scenario("each ready descriptor is reported once", "subsets", subsets + ["end"]),
        Scenario(
            "a source that an earlier handler suspends is reported after it resumes",
            "suspend", ["first", "resumed", "second", "end"]),
        Scenario(
            "a source that an earlier handler cancels is not reported", "cancel", ["first", "end"]),
        Scenario(
            "a new descriptor does not inherit the readiness of a cancelled one",
            "reuse", ["first", "same number", "end"]),
        Scenario(
            "a source that cancels itself is not reported again", "cancel-self", ["once", "end"]),
        Scenario(
            "the end of a file is reported", "end-of-file", ["read 1", "read 0", "end"]),
        Scenario("a full pipe that loses its reader is reported", "lost-reader", ["EPIPE"]),
        Scenario("signals do not end the wait", "interrupt", ["interrupted", "read 1"]),
        Scenario("a thousand descriptors are reported once each", "many", ["1000 handlers"]),
        Scenario("work from other threads runs", "threads", ["4000"]),

        // MARK: Timers

        Scenario(
            "timers fire in the order of their deadlines", "timer-order",
            ["started", "zero 1", "zero 2", "zero 3", "2", "4", "6", "8", "10", "end"]),
        Scenario(
            "bytes that arrived are reported before a timer that is due", "timer-late",
            ["bytes", "timer"]),
        Scenario(
            "a cancelled timer and a dropped timer do not fire", "timer-cancel",
            ["first false", "last"]),
        Scenario(
            "a timer that is started again has the last deadline", "timer-restart",
            ["fired 1", "fired 2", "fired 3", "end"]),
        Scenario("no timer fires early", "timer-deadline", ["0 early"]),
        Scenario("a timer without delay does not starve the loop", "timer-zero", ["main queue"]),
        Scenario("a busy descriptor does not starve timers", "timer-busy", ["fired"]),
        Scenario(
            "a sleep ends at its deadline and on cancellation", "clock",
            ["slept", "CancellationError()", "CancellationError()", "end"]),
    ]

    private static let scenariosOfLoop = [
        Scenario(
            "an idle process has one thread that does not wake up", "idle",
            ["task", "1 threads, 0 wakeups"]),
        Scenario(
            "the main queue runs in order, before and after the handlers", "queue",
            ["1", "2", "3", "handler", "end"]),
        Scenario(
            "tasks run on the main thread", "tasks", ["main actor", "main thread", "5050", "end"]),
        Scenario("a busy main queue does not starve descriptors", "busy-queue", ["reported"]),
        Scenario("busy tasks do not starve descriptors", "busy-tasks", ["reported"]),
        Scenario(
            "a busy descriptor does not starve the main queue", "busy-descriptor", ["main queue"]),
        // A failure says that a version of the Swift libraries needs another way; `CSwiftRuntime` names it.
        Scenario(
            "the private functions of the Swift libraries work", "private-functions",
            [
                "_dispatch_get_main_queue_handle_4CF: ready true",
                "_dispatch_main_queue_callback_4CF: called true",
                "swift_task_enqueueGlobal_hook: main thread true",
            ]),
        Scenario(
            "timers need no thread and no wakeup before their deadline", "timer-idle",
            ["1 threads, 0 wakeups"]),
        Scenario(
            "waiting for a child process needs no thread", "process",
            ["code(3)", "1 threads, 0 wakeups"]),
    ]
}
