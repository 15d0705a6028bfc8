internal import DBus
internal import Glibc

/// A file with a password, which goes to the daemon as a descriptor and nowhere else.
struct PasswordFile {
    /// As much as the daemon reads.
    static let limitBytes = 65536

    let path: String

    /// - Parameter path: `-` is standard input.
    init(_ path: String) { self.path = path }

    /// The password, in a pipe.
    ///
    /// One line feed at its end is no part of it.
    ///
    /// - Throws: ``CommandFailure`` when the file cannot be read or is too long.
    func descriptor() throws(CommandFailure) -> FileDescriptor {
        var bytes = try read()
        defer {
            bytes.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
            }
        }
        var count = bytes.count
        if bytes.last == UInt8(ascii: "\n") { count -= 1 }
        guard count <= Self.limitBytes else {
            throw CommandFailure(.failed, "The password in \(name) is longer than 64 KiB.")
        }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw failure(errno) }
        let (reader, writer) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        // A pipe takes this much even while nobody reads; where it does not, this fails and does not wait.
        guard fcntl(writer.rawValue, F_SETFL, O_NONBLOCK) == 0,
            write(writer.rawValue, bytes, count) == count
        else { throw failure(errno) }
        return reader
    }

    private var name: String { path == "-" ? "standard input" : path }

    /// All bytes, or enough of them to see that they are too many.
    private func read() throws(CommandFailure) -> [UInt8] {
        if path == "-", Console.canAsk { return try ask() }
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        // Never grows: a copy of the password would stay behind.
        var bytes = [UInt8](repeating: 0, count: Self.limitBytes + 2)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                let rest = UnsafeMutableRawBufferPointer(rebasing: $0[count...])
                return Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure(errno) }
            if more == 0 { break }
            count += more
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Asks at the terminal, which does not show what is typed.
    private func ask() throws(CommandFailure) -> [UInt8] {
        guard let password = getpass("Password: ") else { throw failure(errno) }
        defer { explicit_bzero(password, strlen(password)) }
        return Array(UnsafeRawBufferPointer(start: password, count: strlen(password)))
    }

    private func failure(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .failed,
            "The password cannot be read from \(name): \(String(cString: strerror(number))).")
    }
}
