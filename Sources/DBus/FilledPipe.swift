internal import Glibc

nonisolated extension FileDescriptor {
    /// Creates a pipe that contains the first `count` of `bytes`, followed by the end of file.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - count: 64 KiB at most: the capacity of a pipe that is not being read.
    /// - Returns: The read end; nil, with `errno` set, if the pipe cannot be created or filled.
    package static func pipe(holding bytes: [UInt8], _ count: Int) -> FileDescriptor? {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        // A child process must not inherit the write end: its reader would never see the end of file.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (reader, writer) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        // With a smaller pipe, the write fails instead of blocking.
        guard fcntl(writer.rawValue, F_SETFL, O_NONBLOCK) == 0,
            write(writer.rawValue, bytes, count) == count
        else { return nil }
        return reader
    }
}
