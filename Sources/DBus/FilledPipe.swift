internal import Glibc
internal import System

nonisolated extension FileDescriptor {
    /// Creates a pipe that contains the first `count` of `bytes`, followed by the end of file.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - count: 64 KiB at most: the capacity of a pipe that is not being read.
    /// - Returns: The read end; nil, with `errno` set, if the pipe cannot be created or filled.
    package static func pipe(holding bytes: [UInt8], _ count: Int) -> FileDescriptor? {
        guard let ends = try? PipeEnds() else { return nil }
        // A pipe with a smaller buffer fails instead of blocking.
        guard fcntl(ends.writing, F_SETFL, O_NONBLOCK) == 0,
            write(ends.writing, bytes, count) == count
        else { return nil }
        return FileDescriptor(owning: ends.takeReading())
    }
}
