internal import CDBus
internal import Dispatch
internal import Glibc

/// Runs the watches and timeouts of a connection as dispatch sources on the main queue.
///
/// A source is active only while libdbus has its watch or timeout enabled, so an idle connection
/// waits for its socket and for nothing else.
final class EventSources {
    private var watches: [OpaquePointer: Watch] = [:]
    private var timers: [OpaquePointer: any DispatchSourceTimer] = [:]
    /// Called after libdbus has read or written something.
    private var afterEvent: () -> Void = {}

    private struct Watch {
        let source: any DispatchSourceProtocol
        var isRunning = false
    }

    /// Hands the watches and timeouts of `connection`, which nothing else drives, to this object,
    /// which must outlive them. False when descriptors ran out.
    func attach(to connection: OpaquePointer, afterEvent: @escaping () -> Void) -> Bool {
        self.afterEvent = afterEvent
        let context = Unmanaged.passUnretained(self).toOpaque()
        let isWatched = dbus_connection_set_watch_functions(
            connection,
            { watch, context in
                EventSources.with(watch, context) { $0.addWatch($1) } == true ? 1 : 0
            },
            { watch, context in _ = EventSources.with(watch, context) { $0.removeWatch($1) } },
            { watch, context in _ = EventSources.with(watch, context) { $0.updateWatch($1) } },
            context, nil)
        let isTimed = dbus_connection_set_timeout_functions(
            connection,
            { timeout, context in
                EventSources.with(timeout, context) { $0.updateTimer($1) } == true ? 1 : 0
            },
            { timeout, context in _ = EventSources.with(timeout, context) { $0.removeTimer($1) } },
            { timeout, context in _ = EventSources.with(timeout, context) { $0.updateTimer($1) } },
            context, nil)
        return isWatched != 0 && isTimed != 0
    }

    /// Lets go of the watches and timeouts; libdbus removes each through ``removeWatch(_:)`` and
    /// ``removeTimer(_:)``.
    func detach(from connection: OpaquePointer) {
        dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
    }

    private func addWatch(_ watch: OpaquePointer) -> Bool {
        // A descriptor of our own: dispatch may look at it for a moment after libdbus has closed
        // its.
        let descriptor = fcntl(dbus_watch_get_unix_fd(watch), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        let flags = dbus_watch_get_flags(watch)
        let reads = flags & DBUS_WATCH_READABLE.rawValue != 0
        let source: any DispatchSourceProtocol =
            reads
            ? DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
            : DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
        let condition = reads ? DBUS_WATCH_READABLE.rawValue : DBUS_WATCH_WRITABLE.rawValue
        source.setEventHandler { [unowned self] in
            // An earlier event of this turn may have removed the watch.
            guard watches[watch] != nil else { return }
            dbus_watch_handle(watch, condition)
            afterEvent()
        }
        source.setCancelHandler { close(descriptor) }
        watches[watch] = Watch(source: source)
        updateWatch(watch)
        return true
    }

    private func updateWatch(_ watch: OpaquePointer) {
        let runs = dbus_watch_get_enabled(watch) != 0
        guard let known = watches[watch], known.isRunning != runs else { return }
        watches[watch]?.isRunning = runs
        if runs { known.source.resume() } else { known.source.suspend() }
    }

    private func removeWatch(_ watch: OpaquePointer) {
        guard let removed = watches.removeValue(forKey: watch) else { return }
        removed.source.cancel()
        // A source that is suspended cannot be cancelled, nor let go of.
        if !removed.isRunning { removed.source.resume() }
    }

    @discardableResult
    private func updateTimer(_ timeout: OpaquePointer) -> Bool {
        removeTimer(timeout)
        guard dbus_timeout_get_enabled(timeout) != 0 else { return true }
        let interval = DispatchTimeInterval.milliseconds(Int(dbus_timeout_get_interval(timeout)))
        let timer = DispatchSource.makeTimerSource(queue: .main)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [unowned self] in
            guard timers[timeout] != nil else { return }
            dbus_timeout_handle(timeout)
            afterEvent()
        }
        timers[timeout] = timer
        timer.activate()
        return true
    }

    private func removeTimer(_ timeout: OpaquePointer) {
        timers.removeValue(forKey: timeout)?.cancel()
    }

    /// Enters the main actor from a callback of libdbus, which calls back on the thread that called
    /// it.
    nonisolated private static func with<Result: Sendable>(
        _ handle: OpaquePointer?, _ context: UnsafeMutableRawPointer?,
        _ body: @MainActor (EventSources, OpaquePointer) -> Result
    ) -> Result? {
        nonisolated(unsafe) let arguments = (handle, context, body)
        return MainActor.assumeIsolated {
            guard let handle = arguments.0, let context = arguments.1 else { return nil }
            return arguments.2(
                Unmanaged<EventSources>.fromOpaque(context).takeUnretainedValue(), handle)
        }
    }
}
