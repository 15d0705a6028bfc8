internal import Dispatch
internal import Glibc
internal import System

/// Runs one scenario of the event loop and prints the events.
///
/// The event loop replaces that of the process, so the tests run it in a separate process. The same scenarios run
/// with `dispatchMain()`, which serves the same types in programs without the event loop.
@main
enum EventLoopScenarios {
    /// Ends a scenario that hangs, with `SIGALRM`.
    private static let timeLimitSeconds: UInt32 = 300

    @MainActor private static let scenarios =
        descriptorScenarios.merging(mainQueueScenarios) { first, _ in first }
        .merging(timerScenarios) { first, _ in first }

    @MainActor static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let scenario = scenarios[arguments[2]] else {
            print("Usage: event-loop-scenarios loop|dispatch SCENARIO")
            exit(64)
        }
        alarm(timeLimitSeconds)
        guard arguments[1] == "loop" else {
            scenario()
            dispatchMain()
        }
        MainLoop.use()
        scenario()
        MainLoop.run()
    }
}

/// Prints a line and ends the process.
func finish(_ line: String) -> Never {
    print(line)
    exit(0)
}

/// A pipe whose reading end is a source.
@MainActor
final class Channel {
    let writing: Int32
    private(set) var source: DescriptorSource?

    /// - Parameter handler: Called with the number of bytes that were read.
    init(_ handler: @escaping @MainActor (Int) -> Void) {
        guard let ends = try? PipeEnds() else { finish("no descriptors") }
        writing = ends.takeWriting()
        let descriptor = ends.takeReading()
        source = DescriptorSource(descriptor, .reading) {
            var bytes = [UInt8](repeating: 0, count: 16)
            handler(read(descriptor, &bytes, bytes.count))
        }
        source?.resume()
    }

    /// Makes the source ready.
    func send() { _ = write(writing, "!", 1) }
}

/// The number of times that a thread of this process gave up the processor to wait.
func contextSwitches(of thread: String) -> Int {
    let file = open("/proc/self/task/\(thread)/status", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let count = read(file, &bytes, bytes.count)
    let lines = String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) } ?? -1
}

/// The numbers of the threads of this process.
func threads() -> Set<String> {
    Set((try? DirectoryListing("/proc/self/task"))?.names ?? [])
}

/// Prints the wakeups and the threads of the idle process, and ends it.
///
/// Call it on a separate thread. The function observes the process for one second, because the absence of events cannot
/// be awaited. On a busy machine, it may take some time until the process is idle, so the function observes up to ten
/// times.
func observeIdleProcess() {
    var remainingAttempts = 10
    while true {
        // The main thread does not wait for events immediately.
        poll(nil, 0, 100)
        let others = threads().subtracting([currentThread()])
        let before = others.map { contextSwitches(of: $0) }
        poll(nil, 0, 1000)
        let after = others.map { contextSwitches(of: $0) }
        let wakeups = zip(after, before).reduce(0) { $0 + $1.0 - $1.1 }
        remainingAttempts -= 1
        guard remainingAttempts > 0, others.count != 1 || wakeups != 0 else {
            finish("\(others.count) threads, \(wakeups) wakeups")
        }
    }
}

/// The number of the calling thread.
///
/// Source: proc(5), `/proc/thread-self`.
private func currentThread() -> String {
    var buffer = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &buffer, buffer.count)
    let path = String(
        decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path.split(separator: "/").last.map(String.init) ?? ""
}
