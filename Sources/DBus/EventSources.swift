internal import CDBus
internal import Glibc
internal import System

/// The event sources for the watches of a connection.
///
/// A source is active only while libdbus has its watch enabled, so an idle connection waits for its socket and for
/// nothing else. libdbus needs no timeouts, because its pending calls are not used.
final class EventSources {
    private var watches: [Int: DescriptorSource] = [:]
    /// Called after libdbus has read or written something.
    private var afterEvent: () -> Void = {}
    /// True while libdbus reads or writes; then ``afterEvent`` is called.
    private(set) var isInEvent = false

    /// Handles the watches of a connection until ``detach(from:)``.
    ///
    /// - Parameters:
    ///   - connection: The connection, which has no other handler of its watches. This object must outlive it.
    ///   - afterEvent: Called after libdbus has read or written data.
    /// - Returns: False if the process has no free descriptors.
    func attach(to connection: OpaquePointer, afterEvent: @escaping () -> Void) -> Bool {
        self.afterEvent = afterEvent
        let context = CallbackContext.pointer(to: self)
        let isWatched = dbus_connection_set_watch_functions(
            connection,
            { watch, context in
                CallbackContext.enter(context, watch) { (sources: EventSources, watch) in
                    watch.map(sources.addWatch)
                } == true ? 1 : 0
            },
            { watch, context in
                CallbackContext.enter(context, watch) { (sources: EventSources, watch) in
                    if let watch { sources.removeWatch(watch) }
                }
            },
            { watch, context in
                CallbackContext.enter(context, watch) { (sources: EventSources, watch) in
                    if let watch { sources.updateWatch(watch) }
                }
            },
            context, nil)
        return isWatched != 0
    }

    /// Stops handling the watches; libdbus removes each one through ``removeWatch(_:)``.
    func detach(from connection: OpaquePointer) {
        dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
    }

    private func addWatch(_ watch: OpaquePointer) -> Bool {
        // Duplicates the descriptor, because the source may use it for a moment after libdbus has closed its own.
        let descriptor = fcntl(dbus_watch_get_unix_fd(watch), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        let flags = dbus_watch_get_flags(watch)
        let reads = flags & DBUS_WATCH_READABLE.rawValue != 0
        let condition = reads ? DBUS_WATCH_READABLE.rawValue : DBUS_WATCH_WRITABLE.rawValue
        watches[Int(bitPattern: watch)] = DescriptorSource(descriptor, reads ? .reading : .writing)
        {
            [unowned self] in
            // An earlier event of this turn may have removed the watch.
            guard watches[Int(bitPattern: watch)] != nil else { return }
            isInEvent = true
            dbus_watch_handle(watch, condition)
            isInEvent = false
            afterEvent()
        }
        updateWatch(watch)
        return true
    }

    private func updateWatch(_ watch: OpaquePointer) {
        guard let source = watches[Int(bitPattern: watch)] else { return }
        if dbus_watch_get_enabled(watch) != 0 { source.resume() } else { source.suspend() }
    }

    private func removeWatch(_ watch: OpaquePointer) {
        watches.removeValue(forKey: Int(bitPattern: watch))?.cancel()
    }
}
