internal import CLinux
internal import Dispatch
internal import Glibc

/// The thread that waits for descriptors in a program without a ``MainLoop``.
///
/// Sources of libdispatch are not suitable: after a hang-up, the thread of libdispatch may use a source that the queue
/// of the source has already freed.
@MainActor
enum DescriptorThread {
    private static let epoll = start()
    /// The sources that are not cancelled.
    private static var sources: [UInt64: DescriptorSource] = [:]
    /// The sources whose next event the thread reports, or has reported to the main queue.
    private static var armed: Set<UInt64> = []
    /// The sources whose descriptors are registered with epoll.
    private static var added: Set<UInt64> = []
    private static var lastID: UInt64 = 0

    /// Adds a suspended source.
    ///
    /// - Returns: The number of the source, which is not used again.
    static func add(_ source: DescriptorSource) -> UInt64 {
        lastID += 1
        sources[lastID] = source
        return lastID
    }

    /// Waits for the next event of a source.
    ///
    /// The corresponding C function is `epoll_ctl`.
    static func arm(_ id: UInt64) {
        guard let source = sources[id], armed.insert(id).inserted else { return }
        var event = epoll_event()
        event.events = UInt32(source.event.polled) | EPOLLONESHOT.rawValue
        event.data.u64 = id
        let operation = added.insert(id).inserted ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        guard epoll_ctl(epoll, operation, source.descriptor, &event) != 0 else { return }
        // epoll rejects regular files, which are always ready, and have no other end that closes.
        added.remove(id)
        guard source.event != .closing else { return }
        DispatchQueue.main.async { MainActor.assumeIsolated { report(id) } }
    }

    /// Removes a source whose descriptor is still open.
    static func remove(_ id: UInt64) {
        armed.remove(id)
        guard let source = sources.removeValue(forKey: id), added.remove(id) != nil else { return }
        epoll_ctl(epoll, EPOLL_CTL_DEL, source.descriptor, nil)
    }

    /// Calls the handlers of the ready sources, whose events may not have reached the main queue yet.
    ///
    /// The corresponding C function is `poll`.
    static func reportReady() {
        let ids = armed.sorted()
        var states = ids.map { id in
            pollfd(
                fd: sources[id]?.descriptor ?? -1, events: sources[id]?.event.polled ?? 0,
                revents: 0)
        }
        guard poll(&states, nfds_t(states.count), 0) > 0 else { return }
        for (id, state) in zip(ids, states) where state.revents != 0 { report(id) }
    }

    private static func report(_ id: UInt64) {
        // A source that was suspended meanwhile is armed when it resumes.
        guard armed.remove(id) != nil, let source = sources[id], source.isRunning else { return }
        // An earlier handler may have read the bytes.
        var state = pollfd(fd: source.descriptor, events: source.event.polled, revents: 0)
        if poll(&state, 1, 0) > 0 { source.handler?() }
        if source.isRunning { arm(id) }
    }

    private static func start() -> Int32 {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        precondition(descriptor >= 0, "No descriptor is left for the thread that waits for others.")
        DispatchQueue(label: "descriptors").async { wait(descriptor) }
        return descriptor
    }

    private nonisolated static func wait(_ descriptor: Int32) {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let count = epoll_wait(descriptor, &events, Int32(events.count), -1)
            guard count >= 0 || errno == EINTR else { return }
            let ids = events.prefix(max(0, Int(count))).map { $0.data.u64 }
            DispatchQueue.main.async { MainActor.assumeIsolated { for id in ids { report(id) } } }
        }
    }
}
