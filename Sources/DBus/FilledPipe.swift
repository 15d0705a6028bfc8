internal import Glibc

nonisolated extension FileDescriptor {
    /// The end of a pipe from which the first `count` of `bytes` are read, and then its end.
    ///
    /// - Parameters:
    ///   - bytes: What is in it.
    ///   - count: 64 KiB at most: a pipe takes as much even while nobody reads.
    /// - Returns: nil, with `errno`, where there can be none.
    package static func pipe(holding bytes: [UInt8], _ count: Int) -> FileDescriptor? {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        // A program that we start must not hold the other end: it would wait for its own end.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (reader, writer) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
        // Where it takes less, this fails and does not wait.
        guard fcntl(writer.rawValue, F_SETFL, O_NONBLOCK) == 0,
            write(writer.rawValue, bytes, count) == count
        else { return nil }
        return reader
    }
}
