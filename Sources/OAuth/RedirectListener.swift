internal import CLinux
internal import Glibc
internal import ProviderKit
internal import System

/// An HTTP server on one port of 127.0.0.1 that receives redirects and passes each to the login with its state.
///
/// It exists as long as one of its logins. Only a request for the redirect address with the right state ends a login.
@MainActor
final class RedirectListener {
    /// The path of every redirect address.
    nonisolated static let path = "/callback"
    /// The largest number of open connections. A further connection closes an existing one.
    static let maximumConnections = 16
    /// The limit of connections in one round of the event loop.
    private static let maximumAcceptedAtOnce = 64
    /// The time in which no connections are accepted after descriptors ran out.
    private static let pause = Duration.seconds(1)

    let port: UInt16
    private let clock: any Clock<Duration>
    private let descriptor: Int32
    private var source: DescriptorSource?
    /// Functions that return the logins, which are referenced weakly.
    private var logins: [() -> Authorization?] = []
    private var connections: [RedirectConnection] = []

    /// Listens on a port.
    ///
    /// - Parameters:
    ///   - port: The port; 0 for a free one.
    ///   - clock: The clock of the deadlines.
    /// - Throws: ``OAuthError/portTaken(_:)``, ``OAuthError/cannotListen(_:)``.
    init(port: UInt16, clock: any Clock<Duration>) throws(OAuthError) {
        (descriptor, self.port) = try Self.listen(on: port)
        self.clock = clock
        source = DescriptorSource(descriptor, .reading) { [weak self] in self?.acceptAll() }
        source?.resume()
    }

    isolated deinit {
        // Frees the port immediately, also while a thread waits for the descriptor.
        shutdown(descriptor, Int32(SHUT_RDWR))
        source?.cancel()
    }

    /// Adds a login, which retains this object.
    func add(_ login: Authorization) {
        logins.removeAll { $0() == nil }
        logins.append { [weak login] in login }
    }

    /// The corresponding C functions are `socket`, `bind`, `listen` and `getsockname`.
    private static func listen(on port: UInt16) throws(OAuthError) -> (Int32, UInt16) {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0)
        guard descriptor >= 0 else { throw .cannotListen(errno) }
        // This side closes connections first, so they stay in TIME_WAIT for a minute, in which the port could not be
        // reused. On Linux, the option does not allow a second listener.
        var isReused: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0
                    && Glibc.listen(descriptor, Int32(maximumConnections)) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isListening else {
            let code = errno
            close(descriptor)
            throw code == EADDRINUSE ? .portTaken(port) : .cannotListen(code)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private func acceptAll() {
        for _ in 0..<Self.maximumAcceptedAtOnce {
            let socket = accept4(
                descriptor, nil, nil, Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue))
            if socket >= 0 {
                admit(socket)
            } else if errno != EINTR && errno != ECONNABORTED {
                // Without free descriptors, the event loop would report the same connection in each round.
                if errno != EAGAIN { pauseAccepting() }
                return
            }
        }
    }

    private func admit(_ socket: Int32) {
        if connections.count >= Self.maximumConnections {
            // Closes idle connections first, and connections of a login last.
            let victim =
                connections.first(where: \.isIdle) ?? connections.first(where: \.isExpendable)
                ?? connections.first
            victim?.close()
        }
        let connection = RedirectConnection(socket, clock: clock, self)
        connections.append(connection)
        connection.begin()
    }

    /// Removes a connection that was closed.
    func remove(_ connection: RedirectConnection) { connections.removeAll { $0 === connection } }

    /// Answers the request of a connection, now or at the end of the login.
    func answer(_ head: RequestHead, _ connection: RedirectConnection) {
        if let page = head.refusal(by: "127.0.0.1:\(port)") { return connection.send(page) }
        guard let parameters = RedirectParameters(query: head.query),
            let login = login(parameters.state), login.receive(parameters)
        else { return connection.send(.noAnswer) }
        connection.waitForVerdict()
        login.showVerdict(in: connection)
    }

    /// Finds the login with a state. Compares all states, so that the time does not reveal which one matched.
    private func login(_ state: Secret?) -> Authorization? {
        guard let state else { return nil }
        return logins.compactMap { $0() }.filter { $0.request.state.matches(state) }.last
    }

    private func pauseAccepting() {
        source?.suspend()
        Task { [weak self, clock] in
            try? await clock.sleep(for: Self.pause)
            self?.source?.resume()
        }
    }
}
