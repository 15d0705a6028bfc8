internal import CLinux
internal import Glibc
internal import Synchronization

/// An HTTP/1.1 server on 127.0.0.1 whose responses a test defines.
///
/// Each connection has its own thread, on which the handler is called and may block. The server stops when its last
/// reference is released.
package final class LoopbackServer: Sendable {
    package typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// Counts of connections.
    package struct Connections: Hashable, Sendable {
        package internal(set) var accepted = 0
        package internal(set) var open = 0
        /// The largest number of simultaneously open connections.
        package internal(set) var mostOpen = 0
    }

    package let port: UInt16
    /// The requests so far.
    package var requests: Observed<[LoopbackRequest]> { state.requests }
    package var connections: Observed<Connections> { state.connections }
    private let state: State

    /// `http://127.0.0.1:port`.
    package var origin: String { "http://127.0.0.1:\(port)" }

    /// Starts listening.
    ///
    /// - Parameters:
    ///   - port: The port, or 0 for any free port.
    ///   - answersTLS: False if the server is silent after the beginning of TLS.
    ///   - handler: Called for each request. For addresses of this server in a response, use
    ///     ``LoopbackRequest/origin``.
    /// - Throws: ``SystemError``.
    package init(
        port: UInt16 = 0, answersTLS: Bool = true, _ handler: @escaping Handler
    ) throws {
        let reservation = try LoopbackSocket.bind(to: port)
        self.port = reservation.port
        state = try State(reservation: reservation, answersTLS: answersTLS, handler: handler)
        onThread { [state] in state.accept() }
    }

    /// Starts a server that sends the same response to every request.
    package convenience init(_ response: LoopbackResponse) throws {
        try self.init { _ in response }
    }

    deinit { stop() }

    /// Refuses new connections and closes the existing ones. The port stays reserved while the server exists.
    package func stop() { state.stop() }

    /// Closes the existing connections; new ones are accepted.
    package func disconnect() { state.disconnect() }
}

/// The state that the threads of a server share.
private final class State: Sendable {
    let requests = Observed<[LoopbackRequest]>()
    let connections = Observed(LoopbackServer.Connections())
    /// A socket that has the port of the listener and does not listen. After a stop, the kernel would otherwise give the
    /// port to another test.
    private let reservation: Int32
    private let listener: Int32
    private let answersTLS: Bool
    private let handler: LoopbackServer.Handler
    private let sockets = Mutex<Set<Int32>>([])
    private let isStopped = Mutex(false)

    init(
        reservation: (socket: Int32, port: UInt16), answersTLS: Bool,
        handler: @escaping LoopbackServer.Handler
    ) throws {
        do {
            listener = try LoopbackSocket.listen(on: reservation.port).socket
        } catch {
            close(reservation.socket)
            throw error
        }
        self.reservation = reservation.socket
        self.answersTLS = answersTLS
        self.handler = handler
    }

    deinit { close(reservation) }

    func accept() {
        while true {
            let socket = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            if socket < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
            guard socket >= 0 else { break }
            sockets.withLock { _ = $0.insert(socket) }
            var number = 0
            connections.update { counts in
                counts.accepted += 1
                counts.open += 1
                counts.mostOpen = max(counts.mostOpen, counts.open)
                number = counts.accepted
            }
            onThread { [self, number] in
                LoopbackConnection(socket: socket, number: number, answersTLS: answersTLS)
                    .serve { request in
                        requests.append(request)
                        return handler(request)
                    }
                sockets.withLock {
                    $0.remove(socket)
                    close(socket)
                }
                connections.update { $0.open -= 1 }
            }
        }
        close(listener)
    }

    func stop() {
        // This is done only once, because the descriptor number may be in use for another file afterwards.
        isStopped.withLock { isStopped in
            // `accept` fails after this call, and its thread closes the descriptor.
            if !isStopped { shutdown(listener, Int32(SHUT_RDWR)) }
            isStopped = true
        }
        disconnect()
    }

    func disconnect() {
        // While the lock is held, no descriptor is closed, so that no number is reused.
        sockets.withLock { for socket in $0 { shutdown(socket, Int32(SHUT_RDWR)) } }
    }
}
