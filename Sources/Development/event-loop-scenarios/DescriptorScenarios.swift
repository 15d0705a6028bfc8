internal import Dispatch
internal import Glibc
internal import LoopbackHTTP
internal import Synchronization
internal import System

/// The scenarios of descriptors.
@MainActor let descriptorScenarios: [String: @MainActor () -> Void] = [
    "subsets": runSubsets, "suspend": suspendInRound, "cancel": cancelInRound,
    "reuse": reuseDescriptorInRound, "cancel-self": cancelSelf, "end-of-file": reachEndOfFile,
    "lost-reader": loseReader, "interrupt": interrupt, "many": watchMany, "idle": idle,
]

/// The objects of a scenario, which live as long as the process.
@MainActor private var channels: [Channel] = []

/// Makes each subset of four descriptors ready, the last one first, and prints the subset that was reported.
@MainActor private func runSubsets() {
    var subset = 0
    var reported: [Int] = []
    func next() {
        subset += 1
        guard subset < 16 else { finish("end") }
        reported = []
        for index in (0..<4).reversed() where subset & 1 << index != 0 { channels[index].send() }
    }
    for index in 0..<4 {
        channels.append(
            Channel { count in
                reported.append(count == 1 ? index : -1)
                guard reported.count == subset.nonzeroBitCount else { return }
                print(reported.sorted().map { "\($0)" }.joined(separator: " "))
                next()
            })
    }
    next()
}

/// Makes two descriptors ready in the same round. The first handler that runs acts on the source of the other one.
@MainActor private func handleFirst(_ act: @escaping @MainActor (_ other: Channel) -> Void) {
    var isHandled = false
    for index in 0..<2 {
        channels.append(
            Channel { _ in
                print(isHandled ? "second" : "first")
                guard !isHandled else { return }
                isHandled = true
                act(channels[1 - index])
            })
    }
    for channel in channels { channel.send() }
}

@MainActor private func suspendInRound() {
    handleFirst { other in
        other.source?.suspend()
        // Runs in a later round.
        DispatchQueue.main.async {
            print("resumed")
            other.source?.resume()
            channels.append(Channel { _ in finish("end") })
            DispatchQueue.main.async { channels.last?.send() }
        }
    }
}

@MainActor private func cancelInRound() {
    handleFirst { other in
        other.source?.cancel()
        DispatchQueue.main.async {
            channels.append(Channel { _ in finish("end") })
            channels.last?.send()
        }
    }
}

/// Cancels the other source in a handler, and opens a descriptor with the same number, which is not ready.
@MainActor private func reuseDescriptorInRound() {
    handleFirst { other in
        guard let number = other.source?.descriptor else { return }
        other.source?.cancel()
        let isClosed = fcntl(number, F_GETFD) < 0
        let new = Channel { _ in print("stale") }
        print(isClosed && new.source?.descriptor == number ? "same number" : "another number")
        channels.append(new)
        DispatchQueue.main.async {
            channels.append(Channel { _ in finish("end") })
            channels.last?.send()
        }
    }
}

@MainActor private func cancelSelf() {
    channels.append(
        Channel { _ in
            print("once")
            let channel = channels.removeLast()
            channel.send()
            channel.source?.cancel()
            channels.append(Channel { _ in finish("end") })
            channels.last?.send()
        })
    channels[0].send()
}

@MainActor private func reachEndOfFile() {
    channels.append(
        Channel { count in
            print("read \(count)")
            if count == 0 { finish("end") }
        })
    channels[0].send()
    close(channels[0].writing)
}

@MainActor private var writer: DescriptorSource?

@MainActor private func loseReader() {
    signal(SIGPIPE, SIG_IGN)
    guard let ends = try? PipeEnds() else { finish("no descriptors") }
    let descriptor = ends.takeWriting()
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    let bytes = [UInt8](repeating: 0, count: 1 << 20)
    _ = write(descriptor, bytes, bytes.count)
    // The pipe is full, and becomes ready only because there is no reader.
    writer = DescriptorSource(descriptor, .writing) {
        finish(write(descriptor, bytes, 1) < 0 && errno == EPIPE ? "EPIPE" : "ready")
    }
    writer?.resume()
    DispatchQueue.main.async { close(ends.takeReading()) }
}

/// The number of signals that interrupted the main thread.
private let signals = Atomic(0)

/// The C signal handler. A closure in ``interrupt()`` would check for the main actor first, which takes locks that the
/// interrupted code may hold.
private func countSignal(_ number: Int32) { signals.add(1, ordering: .relaxed) }

/// Interrupts the wait of the main thread until it was interrupted 50 times, then makes a descriptor ready.
@MainActor private func interrupt() {
    // The handler must not be the first to use the global variable, whose initialization takes a lock.
    _ = signals.load(ordering: .relaxed)
    signal(SIGUSR1, countSignal)
    channels.append(Channel { count in finish("read \(count)") })
    let writing = channels[0].writing
    let main = pthread_self()
    onThread {
        for number in 1...50 {
            pthread_kill(main, SIGUSR1)
            // Releases the processor, which the main thread may wait for.
            while signals.load(ordering: .relaxed) < number { usleep(100) }
        }
        print("interrupted")
        _ = write(writing, "!", 1)
    }
}

/// Watches more descriptors than select(2) can, all of them ready at once.
@MainActor private func watchMany() {
    CurrentProcess.raiseDescriptorLimit(to: 4096)
    var count = 0
    for _ in 0..<1000 {
        channels.append(
            Channel { _ in
                count += 1
                guard count == 1000 else { return }
                // A handler that is called a second time would be called before this one.
                channels.append(Channel { _ in finish("\(count) handlers") })
                channels.last?.send()
            })
    }
    for channel in channels { channel.send() }
}

/// Waits for a descriptor that is never ready, with another source suspended although its descriptor is ready.
@MainActor private func idle() {
    channels = [Channel { _ in print("ready") }, Channel { _ in print("ready") }]
    channels[1].source?.suspend()
    channels[1].send()
    Task { print("task") }
    onThread { observeIdleProcess() }
}
