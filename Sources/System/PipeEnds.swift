internal import CProcesses
internal import Glibc

/// The ends of a new pipe, which no program inherits by accident. Closed with the last reference, but for those
/// that somebody has taken.
package final class PipeEnds {
    package private(set) var reading: Int32
    package private(set) var writing: Int32

    /// - Parameter takesDescriptors: Whether descriptors can be sent through it, with messages: it is made of
    ///   sockets then.
    /// - Throws: ``SpawnError`` when there are no descriptors left.
    package init(takesDescriptors: Bool = false) throws(SpawnError) {
        var ends: [Int32] = [-1, -1]
        let result = takesDescriptors ? shim_message_pipe(&ends) : shim_pipe(&ends)
        guard result == 0 else { throw SpawnError(program: "a pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Makes room for what is larger than most messages, so that it is written and read at once. No more than a
    /// wish: there is a limit for each user.
    ///
    /// Source: fcntl(2), `F_SETPIPE_SZ`.
    package func widen() { _ = fcntl(writing, 1031, Int32(1 << 20)) }

    deinit { for end in [reading, writing] where end >= 0 { close(end) } }

    /// The end to read from, which the caller closes.
    package func takeReading() -> Int32 {
        defer { reading = -1 }
        return reading
    }

    /// The end to write to, which the caller closes.
    package func takeWriting() -> Int32 {
        defer { writing = -1 }
        return writing
    }
}
