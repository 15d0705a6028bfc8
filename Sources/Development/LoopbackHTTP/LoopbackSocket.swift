internal import CLinux
internal import Glibc

/// TCP sockets on 127.0.0.1.
package enum LoopbackSocket {
    /// Connects to a port.
    ///
    /// - Returns: The socket, which the caller closes.
    /// - Throws: ``SystemError``.
    package static func connect(to port: UInt16) throws -> Int32 {
        try open { socket in
            var address = address(port)
            let isConnected = withSocketAddress(&address) { pointer, length in
                Glibc.connect(socket, pointer, length.pointee) == 0
            }
            guard isConnected else { throw SystemError("connect", errno) }
            return socket
        }
    }

    /// Binds a socket to a port, or to any free port for 0.
    ///
    /// While the socket is open, the kernel does not choose its port for another socket, but ``listen(on:)`` can use it.
    /// Retries for ten seconds if the port is in use: the kernel may have given a port that was just closed to an
    /// outgoing connection.
    ///
    /// - Returns: The socket, which the caller closes, and its port.
    /// - Throws: ``SystemError``.
    static func bind(to port: UInt16) throws -> (socket: Int32, port: UInt16) {
        try open { socket in
            var isOn: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
            var address = address(port)
            try withSocketAddress(&address) { pointer, length in
                var retriesLeft = port == 0 ? 0 : 100
                while Glibc.bind(socket, pointer, length.pointee) != 0 {
                    guard errno == EADDRINUSE, retriesLeft > 0 else {
                        throw SystemError("bind", errno)
                    }
                    retriesLeft -= 1
                    usleep(100_000)
                }
                getsockname(socket, pointer, length)
            }
            return (socket, UInt16(bigEndian: address.sin_port))
        }
    }

    /// Listens on a port, or on any free port for 0. See ``bind(to:)``.
    ///
    /// - Returns: The socket, which the caller closes, and its port.
    /// - Throws: ``SystemError``.
    static func listen(on port: UInt16) throws -> (socket: Int32, port: UInt16) {
        let bound = try bind(to: port)
        guard Glibc.listen(bound.socket, SOMAXCONN) == 0 else {
            defer { close(bound.socket) }
            throw SystemError("listen", errno)
        }
        return bound
    }

    /// Returns true if a program can listen on a port.
    package static func isFree(_ port: UInt16) -> Bool {
        let isBound = try? open { socket in
            defer { close(socket) }
            var address = address(port)
            return withSocketAddress(&address) { Glibc.bind(socket, $0, $1.pointee) == 0 }
        }
        return isBound ?? false
    }

    /// Opens a socket, and closes it if `body` fails.
    private static func open<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw SystemError("socket", errno) }
        do {
            return try body(socket)
        } catch {
            close(socket)
            throw error
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }

    private static func withSocketAddress<Result>(
        _ address: inout sockaddr_in,
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) throws -> Result
    ) rethrows -> Result {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, &length) }
        }
    }
}
