internal import CLinux
internal import Glibc
internal import Synchronization

/// A relay of TCP connections on 127.0.0.1 that can stop forwarding data without closing a connection.
///
/// It simulates a network path that disappears: after a suspend, or after a change of the Wi-Fi or the VPN. The relay
/// stops when its last reference is released.
package final class LoopbackRelay: Sendable {
    /// The port on which the relay accepts connections.
    package let port: UInt16
    /// The number of accepted connections.
    package let accepted = Observed(0)
    private let state: State

    /// Starts accepting connections.
    ///
    /// - Parameter target: The port on 127.0.0.1 to which connections are relayed.
    /// - Throws: ``SystemError``.
    package init(to target: UInt16) throws {
        let listener = try LoopbackSocket.listen(on: 0)
        port = listener.port
        state = State(listener: listener.socket, target: target)
        onThread { [state, accepted] in state.accept { accepted.update { $0 += 1 } } }
    }

    deinit { state.stop() }

    /// Stops forwarding the data of existing connections. They stay open, and new connections work.
    package func freeze() { state.freeze() }
}

/// The state that the threads of a relay share.
private final class State: Sendable {
    /// The number of freezes. A connection with a lower number is frozen.
    private let generation = Mutex(0)
    private let sockets = Mutex<Set<Int32>>([])
    private let listener: Int32
    private let target: UInt16

    init(listener: Int32, target: UInt16) {
        self.listener = listener
        self.target = target
    }

    func freeze() { generation.withLock { $0 += 1 } }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        sockets.withLock { for socket in $0 { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    func accept(_ onAccept: () -> Void) {
        while true {
            let client = accept4(listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
            if client < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
            guard client >= 0 else { break }
            guard let server = try? LoopbackSocket.connect(to: target) else {
                close(client)
                continue
            }
            let generation = generation.withLock(\.self)
            sockets.withLock { $0.formUnion([client, server]) }
            onAccept()
            onThread { [self] in
                while forward(client, server, generation) {}
                sockets.withLock {
                    $0.subtract([client, server])
                    close(client)
                    close(server)
                }
            }
        }
        close(listener)
    }

    /// Waits for data from one side and forwards it to the other. Data of a frozen connection is dropped.
    ///
    /// - Parameters:
    ///   - client: The socket of the client.
    ///   - server: The socket of the target.
    ///   - generation: The generation of the connection.
    /// - Returns: False if one side closed the connection.
    private func forward(_ client: Int32, _ server: Int32, _ generation: Int) -> Bool {
        var events = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&events, 2, -1) > 0 else { return errno == EINTR }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        for (event, destination) in zip(events, [server, client]) where event.revents != 0 {
            let count = recv(event.fd, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            guard self.generation.withLock({ $0 == generation }) else { continue }
            guard send(destination, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                return false
            }
        }
        return true
    }
}
