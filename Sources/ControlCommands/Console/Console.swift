internal import Glibc

/// Standard output, for the answer alone, and standard error, for everything that is said beside it.
enum Console {
    /// Writes to standard output at once.
    ///
    /// Ends the program, quietly, when nobody reads any more: `imagefeedctl feed | head`.
    ///
    /// - Throws: ``CommandFailure`` when the text cannot be written, to a full disk for example.
    static func write(_ text: String) throws(CommandFailure) { try write(Array(text.utf8)) }

    /// Writes bytes to standard output at once, as ``write(_:)-(String)`` does.
    static func write(_ bytes: [UInt8]) throws(CommandFailure) {
        let number = write(bytes, to: STDOUT_FILENO)
        if number == EPIPE { exit(ProgramStatus.done.rawValue) }
        guard number == 0 else {
            throw CommandFailure(
                .failed, "The answer cannot be written: \(String(cString: strerror(number))).")
        }
    }

    /// Says something on standard error.
    static func note(_ message: String) {
        _ = write(Array((TerminalText.line(message) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Asks on standard error; the cursor stays on the line.
    static func ask(_ question: String) {
        _ = write(Array((TerminalText.line(question) + " ").utf8), to: STDERR_FILENO)
    }

    /// Replaces the line of standard error that the cursor is on.
    static func redraw(_ line: String) {
        // Source: ECMA-48, 8.3.41: erases the line.
        _ = write(Array(("\r\u{1B}[2K" + TerminalText.line(line)).utf8), to: STDERR_FILENO)
    }

    /// Says on standard error why the program ends.
    static func complain(_ message: String) { note("imagefeedctl: " + message) }

    /// Whether a person sits at standard input.
    static var canAsk: Bool { isatty(STDIN_FILENO) != 0 }

    /// - Returns: 0, or the number of the error.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    // Whoever shares the terminal with us made it non-blocking.
                    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    Glibc.poll(&poll, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}
