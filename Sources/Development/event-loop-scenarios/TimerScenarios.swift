internal import Dispatch
internal import Glibc
internal import LoopbackHTTP
internal import System

/// The scenarios of timers, the clock and child processes.
@MainActor let timerScenarios: [String: @MainActor () -> Void] = [
    "timer-order": orderTimers, "timer-cancel": cancelTimers, "timer-restart": restartTimer,
    "timer-deadline": measureTimer, "timer-zero": repeatZeroDelay, "timer-idle": idleAfterTimers,
    "timer-busy": keepLoopBusy, "timer-late": delayTimer, "clock": sleep, "process": watchProcess,
]

@MainActor private var timers: [MainLoopTimer] = []
@MainActor private var channel: Channel?

@MainActor private func orderTimers() {
    let start = SuspendingClock.now
    // The differences exceed the time for which a busy machine can stop this function.
    for seconds in [6, 2, 10, 4, 8] {
        timers.append(
            MainLoopTimer(after: start + .seconds(seconds) - .now) {
                print(seconds)
                if seconds == 10 { finish("end") }
            })
    }
    for number in 1...3 { timers.append(MainLoopTimer(after: .zero) { print("zero \(number)") }) }
    print("started")
}

/// Starts three timers that are due in the same round. The first handler cancels the second timer and releases the
/// third one.
@MainActor private func cancelTimers() {
    let second = MainLoopTimer { print("cancelled") }
    var third: MainLoopTimer? = MainLoopTimer { print("dropped") }
    timers = [
        MainLoopTimer {
            second.cancel()
            third = nil
            print("first \(second.isRunning)")
        }, second, MainLoopTimer { finish("last") },
    ]
    timers[0].start(after: .zero)
    second.start(after: .zero)
    third?.start(after: .zero)
    timers[2].start(after: .milliseconds(20))
}

@MainActor private func restartTimer() {
    var count = 0
    timers = [
        MainLoopTimer {
            count += 1
            print("fired \(count)")
            if count < 3 {
                timers[0].start(after: .zero)
            } else {
                timers.append(MainLoopTimer(after: .milliseconds(50)) { finish("end") })
            }
        }
    ]
    // The second deadline replaces the first one.
    timers[0].start(after: .seconds(1000))
    timers[0].start(after: .milliseconds(1))
}

/// Prints the number of timers that fired before their deadline.
@MainActor private func measureTimer() {
    var early = 0
    var left = 100
    for number in 0..<100 {
        let deadline = SuspendingClock.now + .microseconds(number * 333)
        timers.append(
            MainLoopTimer(after: deadline - .now) {
                if SuspendingClock.now < deadline { early += 1 }
                left -= 1
                if left == 0 { finish("\(early) early") }
            })
    }
}

/// Restarts a timer without a delay while a descriptor and the main queue are ready. It must not starve them.
@MainActor private func repeatZeroDelay() {
    timers = [MainLoopTimer { timers[0].start(after: .zero) }]
    timers[0].start(after: .zero)
    channel = Channel { _ in DispatchQueue.main.async { finish("main queue") } }
    channel?.send()
}

/// Observes the idle process after timers have fired and were cancelled, with one timer that is due much later.
@MainActor private func idleAfterTimers() {
    timers = [MainLoopTimer(after: .seconds(1000)) {}, MainLoopTimer(after: .seconds(1000)) {}]
    timers[1].cancel()
    timers.append(MainLoopTimer(after: .milliseconds(1)) { onThread { observeIdleProcess() } })
}

/// Starts a timer while a descriptor is always ready. The descriptor must not starve the timer.
@MainActor private func keepLoopBusy() {
    channel = Channel { _ in channel?.send() }
    channel?.send()
    timers = [MainLoopTimer(after: .milliseconds(10)) { finish("fired") }]
}

/// Keeps the main queue busy while a timer becomes due and then a descriptor becomes ready.
@MainActor private func delayTimer() {
    channel = Channel { _ in print("bytes") }
    DispatchQueue.main.async {
        timers = [MainLoopTimer(after: .milliseconds(20)) { finish("timer") }]
        poll(nil, 0, 200)
        channel?.send()
    }
}

@MainActor private func sleep() {
    Task {
        let start = ContinuousClock.now
        try? await MainLoopClock().sleep(for: .milliseconds(20))
        print(ContinuousClock.now - start >= .milliseconds(20) ? "slept" : "early")
        let task = Task { try await MainLoopClock().sleep(for: .seconds(1000)) }
        await Task.yield()
        task.cancel()
        print(await task.result.description)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await MainLoopClock().sleep(for: .seconds(1000))
        }
        print(await cancelled.result.description)
        finish("end")
    }
}

extension Result where Failure: Error {
    fileprivate var description: String {
        switch self {
        case .success: "success"
        case .failure(let error): "\(error)"
        }
    }
}

/// Waits for a child process on the main thread alone.
@MainActor private func watchProcess() {
    Task {
        guard let process = try? SpawnedProcess("/bin/sh", ["-c", "exit 3"]) else {
            finish("not started")
        }
        print(await process.exit())
        onThread { observeIdleProcess() }
    }
}
