internal import CSwiftRuntime
internal import Glibc

/// The event loop of a program: the main thread waits for descriptors, timers and the main queue.
///
/// With `dispatchMain()`, a message changes threads three times: one thread waits for the socket, wakes the main
/// thread, and is woken again to wait for the next message. That takes longer than most calls.
@MainActor
package enum MainLoop {
    /// A Boolean value that indicates whether the loop also runs the main queue; false in a program in which
    /// libdispatch runs it.
    package private(set) static var isUsed = false
    private static var sources: [DescriptorSource] = []
    /// True if the running sources differ from those of the last round.
    private static var isChanged = true
    /// Called when ``changedDescriptors()`` or ``timeoutMilliseconds`` may have another result, in a program whose other
    /// event loop has to be woken for it.
    package static var onChange: (() -> Void)?

    /// Prepares the process for ``run()``. Must be called before the first task, ``DescriptorSource`` and
    /// ``MainLoopTimer`` are created.
    ///
    /// After this call, tasks that belong to no actor run on the main queue as well.
    package static func use() {
        shim_run_every_task_on_main()
        // The timer thread of libdispatch requests a priority that only root gets, and would log the failure to the
        // journal at each start.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        isUsed = true
    }

    /// Runs the main queue and the handlers of descriptors and timers until the process ends.
    ///
    /// In each round, the main queue comes first, then the ready descriptors in the order in which their sources were
    /// created, then the timers. A handler may suspend or cancel sources and timers of the same round.
    package static func run() -> Never {
        // Runs the work that was queued before the first round.
        dispatch_main_queue_run(nil)
        var active: [DescriptorSource] = []
        var descriptors: [pollfd] = []
        while true {
            if isChanged {
                isChanged = false
                active = sources.filter(\.isRunning)
                descriptors = awaited(active)
            }
            let count = poll(
                &descriptors, nfds_t(descriptors.count), MainLoopTimers.timeoutMilliseconds)
            // A signal interrupted the wait.
            guard count >= 0 else { continue }
            if count > 0 { handle(descriptors, active) }
            MainLoopTimers.fire()
        }
    }

    /// Returns the descriptors of the main queue, which is -1 if libdispatch runs the queue, and of sources.
    private static func awaited(_ active: [DescriptorSource]) -> [pollfd] {
        let mainQueue = isUsed ? dispatch_main_queue_descriptor() : -1
        return [pollfd(fd: mainQueue, events: Int16(POLLIN), revents: 0)]
            + active.map { pollfd(fd: $0.descriptor, events: $0.event.polled, revents: 0) }
    }

    /// Runs the main queue, if it is ready, and the handlers of the ready descriptors.
    private static func handle(_ descriptors: [pollfd], _ active: [DescriptorSource]) {
        if descriptors[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(descriptors[0].fd, &count, 8)
            dispatch_main_queue_run(nil)
        }
        // An earlier handler may have suspended a later source.
        for (source, state) in zip(active, descriptors.dropFirst())
        where state.revents != 0 && source.isRunning {
            source.handler?()
        }
    }

    // MARK: Use in another event loop

    /// Returns the descriptors and events to wait for, if they changed since the last call; nil otherwise.
    ///
    /// A program with another event loop calls ``use()``, and then waits for these descriptors and for
    /// ``timeoutMilliseconds`` instead of calling ``run()``.
    package static func changedDescriptors() -> [(descriptor: Int32, events: Int16)]? {
        guard isChanged else { return nil }
        isChanged = false
        return awaited(sources.filter(\.isRunning)).map { ($0.fd, $0.events) }
    }

    /// The time until the first timer in milliseconds; -1 without timers.
    package static var timeoutMilliseconds: Int32 { MainLoopTimers.timeoutMilliseconds }

    /// Runs the work that was queued before the first round.
    package static func runQueued() { dispatch_main_queue_run(nil) }

    /// Runs one round without waiting.
    package static func runOnce() {
        let active = sources.filter(\.isRunning)
        var descriptors = awaited(active)
        if poll(&descriptors, nfds_t(descriptors.count), 0) > 0 { handle(descriptors, active) }
        MainLoopTimers.fire()
    }

    static func add(_ source: DescriptorSource) { sources.append(source) }

    static func remove(_ source: DescriptorSource) {
        sources.removeAll { $0 === source }
        sourceChanged()
    }

    /// Records that a source was suspended, resumed or removed.
    static func sourceChanged() {
        isChanged = true
        onChange?()
    }
}
