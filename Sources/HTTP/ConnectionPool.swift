internal import CCurl
internal import Glibc
internal import System
internal import Translation
internal import Web

/// A pool of connections with their transfers, driven by the event loop.
///
/// Source: libcurl-multi(3), "multi_socket".
final class ConnectionPool {
    private let library: CurlLibrary
    private let multi: UnsafeMutableRawPointer
    /// The sources for the events of each socket of libcurl.
    private var sources: [Int32: [DescriptorSource.Event: DescriptorSource]] = [:]
    private var timer: MainLoopTimer?
    /// The running transfers, with the functions to call when they end.
    private var ends: [UnsafeMutableRawPointer: (CURLcode) -> Void] = [:]
    private var isClosed = false
    private var isRetired = false

    /// - Throws: ``HTTPError/failed(_:)``.
    init(_ limits: Limits) throws(HTTPError) {
        let library = try CurlLibrary.load()
        guard let multi = library.functions.multi_init() else {
            throw .failed(Message(verbatim: "out of memory"))
        }
        self.library = library
        self.multi = multi
        let context = CallbackContext.pointer(to: self)
        _ = shim_curl_multi_set_pointer(library.table, multi, CURLMOPT_SOCKETDATA, context)
        _ = shim_curl_multi_set_pointer(library.table, multi, CURLMOPT_TIMERDATA, context)
        _ = shim_curl_multi_set_socket_function(library.table, multi, CURLMOPT_SOCKETFUNCTION) {
            _, socket, events, context, _ in
            CallbackContext.enter(context, (socket, events)) { (pool: ConnectionPool, change) in
                pool.watch(change.0, change.1)
            } ?? -1
        }
        _ = shim_curl_multi_set_timer_function(library.table, multi, CURLMOPT_TIMERFUNCTION) {
            _, milliseconds, context in
            CallbackContext.enter(context, milliseconds) { (pool: ConnectionPool, milliseconds) in
                pool.setTimer(milliseconds)
            } ?? -1
        }
        _ = shim_curl_multi_set_long(
            library.table, multi, CURLMOPT_MAX_HOST_CONNECTIONS, limits.connectionsPerHost)
        _ = shim_curl_multi_set_long(
            library.table, multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, limits.connections)
        _ = shim_curl_multi_set_long(
            library.table, multi, CURLMOPT_MAXCONNECTS, limits.connections)
    }

    /// Ends the transfers without calling their `end` functions, and closes the connections. Must be the last call, and
    /// must not be made in a callback of libcurl.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for easy in ends.keys { _ = library.functions.multi_remove_handle(multi, easy) }
        ends = [:]
        _ = library.functions.multi_cleanup(multi)
        timer?.cancel()
        for source in sources.values.joined() { source.value.cancel() }
        sources = [:]
    }

    /// Begins a transfer.
    ///
    /// - Parameters:
    ///   - easy: The handle. Must exist until `end` or ``remove(_:)`` was called.
    ///   - end: Called after the transfer has ended and `easy` can be used again; not within this call.
    /// - Throws: ``HTTPError/failed(_:)``.
    func add(_ easy: EasyHandle, end: @escaping (CURLcode) -> Void) throws(HTTPError) {
        let code = library.functions.multi_add_handle(multi, easy.pointer)
        guard code == CURLM_OK else {
            throw .failed(
                Message(
                    verbatim: library.functions.multi_strerror(code).map { String(cString: $0) }
                        ?? "libcurl"))
        }
        ends[easy.pointer] = end
    }

    /// Aborts a transfer if it is running. Must not be called in a callback of libcurl.
    func remove(_ easy: EasyHandle) {
        guard ends.removeValue(forKey: easy.pointer) != nil else { return }
        _ = library.functions.multi_remove_handle(multi, easy.pointer)
        closeIfDrained()
    }

    // MARK: Retirement

    /// Closes the pool when its last transfer has ended. No transfer may be added from now on. The transfers retain the
    /// pool.
    func retire() {
        isRetired = true
        closeIfDrained()
    }

    private func closeIfDrained() {
        guard isRetired, ends.isEmpty else { return }
        // libcurl may be the caller.
        Task { close() }
    }

    // MARK: Events

    private func watch(_ socket: Int32, _ events: Int32) -> Int32 {
        guard events != CURL_POLL_REMOVE else {
            for source in sources.removeValue(forKey: socket) ?? [:] { source.value.cancel() }
            return 0
        }
        let isWatched =
            watch(socket, .reading, events & CURL_POLL_IN != 0)
            && watch(socket, .writing, events & CURL_POLL_OUT != 0)
        return isWatched ? 0 : -1
    }

    /// Starts or suspends the watch of an event.
    ///
    /// - Returns: False if the process has no free descriptors.
    private func watch(
        _ socket: Int32, _ event: DescriptorSource.Event, _ isAwaited: Bool
    ) -> Bool {
        guard isAwaited else {
            sources[socket]?[event]?.suspend()
            return true
        }
        if sources[socket]?[event] == nil {
            // Duplicates the descriptor, because libcurl closes its socket before the source is cancelled.
            let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            guard descriptor >= 0 else { return false }
            sources[socket, default: [:]][event] = DescriptorSource(descriptor, event) {
                [unowned self] in
                // An earlier event of this turn may have ended the watch.
                guard sources[socket]?[event] != nil else { return }
                act(socket, event == .reading ? CURL_CSELECT_IN : CURL_CSELECT_OUT)
            }
        }
        sources[socket]?[event]?.resume()
        return true
    }

    private func setTimer(_ milliseconds: Int) -> Int32 {
        guard milliseconds >= 0 else {
            timer?.cancel()
            return 0
        }
        let timer = self.timer ?? MainLoopTimer { [unowned self] in act(CURL_SOCKET_TIMEOUT, 0) }
        self.timer = timer
        timer.start(after: .milliseconds(milliseconds))
        return 0
    }

    /// Passes an event to libcurl, then ends the transfers that have finished.
    private func act(_ socket: Int32, _ events: Int32) {
        // The `end` function of a transfer may release the last reference to the pool.
        withExtendedLifetime(self) {
            var running: Int32 = 0
            _ = library.functions.multi_socket_action(multi, socket, events, &running)
            endTransfers()
        }
    }

    private func endTransfers() {
        var left: Int32 = 0
        while let message = library.functions.multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle
            else { continue }
            // `message` is invalid after the handle is removed.
            let code = message.pointee.data.result
            _ = library.functions.multi_remove_handle(multi, easy)
            ends.removeValue(forKey: easy)?(code)
        }
        closeIfDrained()
    }
}
