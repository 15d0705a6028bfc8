import DBus
import Glibc
import Testing

/// A client that sends calls, and neither reads replies nor accepts descriptors on its own. It implements the D-Bus protocol
/// itself, because libdbus always does both.
struct FloodingClient: ~Copyable {
    private let socket: Int32

    /// Connects to the bus at `address`, which is `unix:path=…`.
    init(_ address: String) throws {
        socket = Glibc.socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let path = try #require(address.firstRange(of: "unix:path=")).upperBound
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) {
            $0.copyBytes(from: address[path...].prefix { $0 != "," }.utf8)
        }
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(status == 0)
        let user = "\(getuid())".utf8.map { String($0, radix: 16) }.joined()
        try write(Array("\0AUTH EXTERNAL \(user)\r\n".utf8))
        var reply = [UInt8](repeating: 0, count: 256)
        let count = read(socket, &reply, reply.count)
        try #require(count > 2 && reply[..<2].elementsEqual("OK".utf8))
        try write(Array("BEGIN\r\n".utf8))
        let bus: (ObjectPath, BusName) = ("/org/freedesktop/DBus", .bus)
        try write(Self.call(1, bus.1, bus.0, "org.freedesktop.DBus", "Hello", "", []))
    }

    deinit { close(socket) }

    /// Reads and discards replies until none arrives for some time.
    private func discardReplies(within timeoutMilliseconds: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while poll(&event, 1, timeoutMilliseconds) > 0, read(socket, &buffer, buffer.count) > 0 {}
    }

    /// Requests the first page of all photos `count` times. Reads the replies if `isReading`, until none arrives for a
    /// second.
    func flood(
        _ count: Int, _ service: BusName, _ account: ObjectPath, _ feed: InterfaceName,
        isReading: Bool = false
    ) throws {
        // The source, an empty cursor, and the number of photos
        let body: [UInt8] =
            [3, 0, 0, 0] + Array("all\0".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 30, 0, 0, 0]
        for number in 0..<count {
            let serial = UInt32(number + 2)
            try write(Self.call(serial, service, account, feed, "GetPage", "ssu", body))
            if isReading, number % 16 == 0 { discardReplies(within: 0) }
        }
        if isReading { discardReplies(within: 1000) }
    }

    /// Calls `OpenImage` for the largest size, and returns the bytes that the bus sends, up to the name of an error.
    func openImage(
        _ photo: String, _ service: BusName, _ account: ObjectPath, _ feed: InterfaceName
    ) throws -> String {
        var body = Self.bytes(UInt32(photo.utf8.count)) + Array(photo.utf8) + [0]
        body += [UInt8](repeating: 0, count: -body.count & 3) + Self.bytes(4) + Array("full\0".utf8)
        try write(Self.call(2, service, account, feed, "OpenImage", "ss", body))
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while !text.contains("Error."), poll(&event, 1, 60_000) > 0 {
            let count = read(socket, &buffer, buffer.count)
            text += String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        }
        return text
    }

    /// Returns a method call. Source: D-Bus specification, "Message Format".
    private static func call(
        _ serial: UInt32, _ destination: BusName, _ path: ObjectPath, _ interface: InterfaceName,
        _ member: MemberName, _ signature: String, _ body: [UInt8]
    ) -> [UInt8] {
        var fields: [UInt8] = []
        for (code, type, value) in [
            (1, "o", path.text), (2, "s", interface.text), (3, "s", member.text),
            (6, "s", destination.text), (8, "g", signature),
        ] as [(UInt8, String, String)] {
            fields += [UInt8](repeating: 0, count: -fields.count & 7)
            fields += [code, 1] + Array(type.utf8) + [0]
            fields += type == "g" ? [UInt8(value.utf8.count)] : bytes(UInt32(value.utf8.count))
            fields += Array(value.utf8) + [0]
        }
        let start = [UInt8(ascii: "l"), 1, 0, 1] + bytes(UInt32(body.count)) + bytes(serial)
        let header = start + bytes(UInt32(fields.count)) + fields
        return header + [UInt8](repeating: 0, count: -header.count & 7) + body
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(socket, $0.baseAddress, $0.count) }
            try #require(count > 0)
            rest = rest.dropFirst(count)
        }
    }
}
