internal import Dispatch
internal import Glibc
internal import Synchronization

/// A reader of secrets in regular files. Each file is read on its own thread.
nonisolated enum SecretFiles {
    /// The largest number of threads. A thread that waits for an unresponsive disk cannot be stopped.
    private static let maximumCount = 8
    private static let count = Atomic(0)

    /// Reads a file from its current position to its end, or until the buffer is full.
    ///
    /// - Parameters:
    ///   - descriptor: The file, which is closed by this function.
    ///   - bytes: The buffer for the contents.
    ///   - completion: Called with false if the file cannot be read, or if too many threads are reading.
    static func read(
        _ descriptor: Int32, into bytes: SecretBytes,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        guard count.add(1, ordering: .relaxed).newValue <= maximumCount else {
            count.subtract(1, ordering: .relaxed)
            close(descriptor)
            DispatchQueue.main.async { completion(false) }
            return
        }
        DispatchQueue(label: "secret-file").async {
            let isRead = readToEnd(descriptor, bytes)
            close(descriptor)
            count.subtract(1, ordering: .relaxed)
            DispatchQueue.main.async { completion(isRead) }
        }
    }

    private static func readToEnd(_ descriptor: Int32, _ bytes: SecretBytes) -> Bool {
        while !bytes.isFull {
            let count = bytes.append { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
        return true
    }
}
