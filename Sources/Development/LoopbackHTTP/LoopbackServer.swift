internal import CLinux
internal import Glibc
internal import Synchronization

/// A server of HTTP/1.1 on 127.0.0.1 that does whatever a test wants a service to do.
///
/// Each connection has a thread of its own, which calls the handler: that may block. Stopped with the
/// last reference.
package final class LoopbackServer: Sendable {
    package typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    /// How many connections there are and were.
    package struct Connections: Hashable, Sendable {
        package internal(set) var accepted = 0
        package internal(set) var open = 0
        /// The most that were open at once.
        package internal(set) var mostOpen = 0
    }

    package let port: UInt16
    /// What was asked so far.
    package var requests: Observed<[LoopbackRequest]> { state.requests }
    package var connections: Observed<Connections> { state.connections }
    private let state: State

    /// `http://127.0.0.1:port`.
    package var origin: String { "http://127.0.0.1:\(port)" }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - port: 0 for one that is free.
    ///   - handler: Called for each request. To name an address of this server, it has
    ///     ``LoopbackRequest/origin``.
    /// - Throws: ``SystemError``.
    package init(port: UInt16 = 0, _ handler: @escaping Handler) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw SystemError("socket", errno) }
        do {
            self.port = try startListening(listener, port)
        } catch {
            close(listener)
            throw error
        }
        state = State(listener: listener, handler: handler)
        onThread { [state] in state.accept() }
    }

    /// Starts a server that answers everything alike.
    package convenience init(_ response: LoopbackResponse) throws {
        try self.init { _ in response }
    }

    deinit { stop() }

    /// Refuses new connections and breaks off those there are.
    package func stop() { state.stop() }

    /// Breaks off the connections there are; new ones are welcome.
    package func disconnect() { state.disconnect() }
}

/// What the threads of a server share.
private final class State: Sendable {
    let requests = Observed<[LoopbackRequest]>()
    let connections = Observed(LoopbackServer.Connections())
    private let listener: Int32
    private let handler: LoopbackServer.Handler
    private let sockets = Mutex<Set<Int32>>([])
    private let isStopped = Mutex(false)

    init(listener: Int32, handler: @escaping LoopbackServer.Handler) {
        self.listener = listener
        self.handler = handler
    }

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
                LoopbackConnection(socket: socket, number: number).serve { request in
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
        // Once: then the number may be another's.
        isStopped.withLock { isStopped in
            // Makes `accept` fail; the descriptor is closed by its thread.
            if !isStopped { shutdown(listener, Int32(SHUT_RDWR)) }
            isStopped = true
        }
        disconnect()
    }

    func disconnect() {
        // The lock is held meanwhile: none of them is closed, and its number another's.
        sockets.withLock { for socket in $0 { shutdown(socket, Int32(SHUT_RDWR)) } }
    }
}

func startListening(_ listener: Int32, _ port: UInt16) throws -> UInt16 {
    var isOn: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            // A port that was given back may be somebody's own end of a connection for a while.
            var triesLeft = port == 0 ? 0 : 100
            while bind(listener, address, length) != 0 {
                guard errno == EADDRINUSE, triesLeft > 0 else { throw SystemError("bind", errno) }
                triesLeft -= 1
                usleep(100_000)
            }
            guard listen(listener, SOMAXCONN) == 0 else { throw SystemError("listen", errno) }
            getsockname(listener, address, &length)
        }
    }
    return UInt16(bigEndian: address.sin_port)
}
