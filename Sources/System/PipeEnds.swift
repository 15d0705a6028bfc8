internal import CProcesses
internal import Glibc

/// The two ends of a new pipe, with `FD_CLOEXEC`.
///
/// The ends are closed with the last reference, except those that were taken.
package final class PipeEnds {
    package private(set) var reading: Int32
    package private(set) var writing: Int32

    /// Creates a pipe.
    ///
    /// - Parameter takesDescriptors: True for a pair of sockets that transfers messages and descriptors.
    /// - Throws: ``SpawnError`` if the process has no free descriptors.
    package init(takesDescriptors: Bool = false) throws(SpawnError) {
        var ends: [Int32] = [-1, -1]
        let result = takesDescriptors ? shim_message_pipe(&ends) : shim_pipe(&ends)
        guard result == 0 else { throw SpawnError(program: "a pipe", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Enlarges the buffer to 1 MiB, so that most messages are written at once. Best effort: there is a limit for each
    /// user.
    ///
    /// Source: fcntl(2), `F_SETPIPE_SZ`.
    package func widen() { _ = fcntl(writing, 1031, Int32(1 << 20)) }

    deinit { for end in [reading, writing] where end >= 0 { close(end) } }

    /// Returns the reading end. The caller closes it.
    package func takeReading() -> Int32 {
        defer { reading = -1 }
        return reading
    }

    /// Returns the writing end. The caller closes it.
    package func takeWriting() -> Int32 {
        defer { writing = -1 }
        return writing
    }
}
