internal import CSwiftRuntime
internal import Glibc

/// The event loop of a program: its main thread waits for descriptors and for the main queue.
///
/// With `dispatchMain()` a message changes threads three times: one waits for the socket, wakes the one that
/// runs the main queue, and is woken by that to wait again. That takes longer than most answers do.
@MainActor
package enum MainLoop {
    /// Whether the program will call ``run()``.
    private(set) static var isUsed = false
    private static var sources: [DescriptorSource] = []

    /// Says, before the first task and the first ``DescriptorSource``, that ``run()`` will be called.
    ///
    /// Tasks that belong to no actor run on the main queue, too, from now on.
    package static func use() {
        shim_run_every_task_on_main()
        // Its thread that waits for timers asks for a priority that only root gets, and would say so in the
        // system's journal each time a program of ours starts.
        setenv("LIBDISPATCH_LOG", "NO", 0)
        isUsed = true
    }

    /// Runs the main queue and what waits for descriptors, for ever.
    package static func run() -> Never {
        let queue = dispatch_main_queue_descriptor()
        // What was queued before.
        dispatch_main_queue_run(nil)
        while true {
            let active = sources.filter(\.isRunning)
            var descriptors =
                [pollfd(fd: queue, events: Int16(POLLIN), revents: 0)]
                + active.map { pollfd(fd: $0.descriptor, events: $0.event.polled, revents: 0) }
            guard poll(&descriptors, nfds_t(descriptors.count), -1) > 0 else { continue }
            if descriptors[0].revents != 0 {
                var count: UInt64 = 0
                _ = read(queue, &count, 8)
                dispatch_main_queue_run(nil)
            }
            // An earlier one may have suspended a later one.
            for (source, state) in zip(active, descriptors.dropFirst())
            where state.revents != 0 && source.isRunning {
                source.handler()
            }
        }
    }

    static func add(_ source: DescriptorSource) { sources.append(source) }
    static func remove(_ source: DescriptorSource) { sources.removeAll { $0 === source } }
}
