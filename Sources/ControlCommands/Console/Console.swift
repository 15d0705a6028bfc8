internal import Glibc
internal import System

/// Standard output, for results only, and standard error, for messages, prompts and progress.
enum Console {
    /// Returns a variable of the environment; empty if it is not set.
    static func variable(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }

    /// Writes to standard output without buffering.
    ///
    /// If the reader of a pipe has exited, as in `imagefeedctl feed | head`, the program exits with success and without
    /// a message.
    ///
    /// - Throws: ``CommandFailure`` if the text cannot be written, for example to a full disk.
    static func write(_ text: String) throws(CommandFailure) { try write(Array(text.utf8)) }

    /// Writes bytes to standard output, like ``write(_:)-(String)``.
    static func write(_ bytes: [UInt8]) throws(CommandFailure) {
        let number = write(bytes, to: STDOUT_FILENO)
        if number == EPIPE { exit(ProgramStatus.done.rawValue) }
        guard number == 0 else {
            throw CommandFailure.tr(
                "Standard output cannot be written: {reason}.",
                ["reason": String(cString: strerror(number))])
        }
    }

    /// Makes the program exit like ``write(_:)-(String)`` as soon as the reader of a pipe has exited. For commands that
    /// may have nothing to write for a long time.
    @MainActor static func exitWithReader() {
        DescriptorSource(STDOUT_FILENO, .closing) { exit(ProgramStatus.done.rawValue) }.resume()
    }

    /// Prints a message as one line to standard error.
    static func printMessage(_ message: String) {
        _ = write(Array((TerminalText.line(message) + "\n").utf8), to: STDERR_FILENO)
    }

    /// Prints a prompt to standard error; the cursor stays on the line.
    static func prompt(_ question: String) {
        _ = write(Array((TerminalText.line(question) + " ").utf8), to: STDERR_FILENO)
    }

    /// Replaces the current line of the terminal at standard error.
    static func redraw(_ line: String) {
        // Source: ECMA-48, 8.3.41: erases the line.
        _ = write(Array(("\r\u{1B}[2K" + TerminalText.line(line)).utf8), to: STDERR_FILENO)
    }

    /// Prints the error that ends the program to standard error.
    static func printError(_ message: String) { printMessage("imagefeedctl: " + message) }

    /// The descriptor of `/dev/null`, for programs that do not use the terminal.
    static let nullDevice = open("/dev/null", O_RDWR | O_CLOEXEC)

    /// True if standard input is a terminal, so that the user can be prompted.
    static var canPrompt: Bool { isatty(STDIN_FILENO) != 0 }

    /// True if a shell with job control started the program for a line that a user typed in a terminal, not a script.
    static var isTyped: Bool { canPrompt && getpgrp() == getpid() }

    /// Writes all bytes.
    ///
    /// - Returns: 0 on success, otherwise the value of `errno`.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if errno == EAGAIN {
                    // Another program that shares the terminal has made it non-blocking.
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
