internal import CLinux
internal import Dispatch
internal import Glibc
internal import System

/// The event loop of a program whose main queue libdispatch runs, as that of the tests: a thread waits for the
/// descriptors and timers of ``MainLoop``, and the main queue handles them.
///
/// It starts with each program that contains this module. Sources of libdispatch are not suitable: after a hang-up, the
/// thread of libdispatch may use a source that the queue of the source has already freed.
@MainActor
private enum DispatchLoop {
    /// Written when the thread has to wait for other descriptors or for an earlier deadline.
    private static let wakeup = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    /// True while ``runOnce()`` runs, after which the thread receives the changes.
    private static var isRunning = false

    static func start() {
        // A program that has another event loop.
        guard !MainLoop.isUsed else { return }
        MainLoop.onChange = {
            if !isRunning { eventfd_write(wakeup, 1) }
        }
        DispatchQueue(label: "descriptors").async { [wakeup] in wait(wakeup) }
    }

    private nonisolated static func wait(_ wakeup: Int32) {
        let isHandled = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var awaited: [pollfd] = []
        nonisolated(unsafe) var timeoutMilliseconds: Int32 = 0
        while true {
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    // A test may replace this event loop in its process.
                    guard !MainLoop.isUsed else { return (awaited, timeoutMilliseconds) = ([], -1) }
                    runOnce()
                    if let descriptors = MainLoop.changedDescriptors() {
                        awaited = ([(descriptor: wakeup, events: Int16(POLLIN))] + descriptors).map
                        {
                            pollfd(fd: $0.descriptor, events: $0.events, revents: 0)
                        }
                    }
                    timeoutMilliseconds = MainLoop.timeoutMilliseconds
                }
                isHandled.signal()
            }
            isHandled.wait()
            poll(&awaited, nfds_t(awaited.count), timeoutMilliseconds)
            var count: eventfd_t = 0
            eventfd_read(wakeup, &count)
        }
    }

    private static func runOnce() {
        isRunning = true
        MainLoop.runOnce()
        isRunning = false
    }
}

private nonisolated func startAfterLaunch() {
    DispatchQueue.main.async { MainActor.assumeIsolated { DispatchLoop.start() } }
}

/// The C library calls the functions of this section before `main`.
@section(".init_array") @used
private let constructor: @convention(c) () -> Void = startAfterLaunch
