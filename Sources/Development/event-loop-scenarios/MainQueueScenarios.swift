internal import CSwiftRuntime
internal import Dispatch
internal import Glibc
internal import LoopbackHTTP
internal import System

/// The scenarios of the main queue and of tasks.
@MainActor let mainQueueScenarios: [String: @MainActor () -> Void] = [
    "queue": runQueue, "tasks": runTasks, "threads": runFromThreads, "busy-queue": keepQueueBusy,
    "busy-tasks": keepTasksBusy, "busy-descriptor": keepDescriptorBusy,
    "private-functions": callPrivateFunctions,
]

@MainActor private var channel: Channel?
@MainActor private var count = 0

/// Queues work before the loop runs, from that work, and from a handler.
@MainActor private func runQueue() {
    channel = Channel { _ in
        print("handler")
        DispatchQueue.main.async { finish("end") }
    }
    DispatchQueue.main.async {
        print("1")
        DispatchQueue.main.async {
            print("3")
            channel?.send()
        }
    }
    DispatchQueue.main.async { print("2") }
}

/// Runs tasks of the main actor and of no actor.
@MainActor private func runTasks() {
    let main = pthread_self()
    Task {
        print("main actor")
        await Task.detached { print(pthread_self() == main ? "main thread" : "other thread") }.value
        await withTaskGroup(of: Int.self) { group in
            for number in 1...100 { group.addTask { number } }
            var sum = 0
            for await number in group { sum += number }
            print(sum)
        }
        finish(pthread_self() == main ? "end" : "other thread")
    }
}

/// Queues work on the main queue from four threads.
@MainActor private func runFromThreads() {
    for _ in 0..<4 {
        onThread {
            for _ in 0..<1000 {
                DispatchQueue.main.async {
                    count += 1
                    if count == 4000 { finish("\(count)") }
                }
            }
        }
    }
}

/// Keeps the main queue busy until a descriptor is reported.
@MainActor private func keepQueueBusy() {
    channel = Channel { _ in finish("reported") }
    @MainActor func again() { DispatchQueue.main.async { again() } }
    again()
    channel?.send()
}

/// Keeps the main queue busy with a task that yields until a descriptor is reported.
@MainActor private func keepTasksBusy() {
    channel = Channel { _ in finish("reported") }
    Task { while true { await Task.yield() } }
    channel?.send()
}

/// Keeps a descriptor ready until the main queue runs.
@MainActor private func keepDescriptorBusy() {
    channel = Channel { _ in channel?.send() }
    channel?.send()
    onThread { DispatchQueue.main.async { finish("main queue") } }
}

/// Calls the private functions that the event loop uses, and prints whether they do what it expects.
@MainActor private func callPrivateFunctions() {
    var queue = pollfd(fd: dispatch_main_queue_descriptor(), events: Int16(POLLIN), revents: 0)
    DispatchQueue.main.async { count += 1 }
    print("_dispatch_get_main_queue_handle_4CF: ready", poll(&queue, 1, 1000) == 1)
    dispatch_main_queue_run(nil)
    print("_dispatch_main_queue_callback_4CF: called", count == 1)
    let main = pthread_self()
    Task.detached {
        finish("swift_task_enqueueGlobal_hook: main thread \(pthread_self() == main)")
    }
}
