internal import Glibc
internal import System

/// Reads the lines of a pipe as they arrive.
@MainActor
final class LineReader {
    private var source: DescriptorSource?
    private var lines = LineBuffer()
    private var waiter: CheckedContinuation<Bool, any Error>?
    private var isEnded = false

    private static let chunkBytes = 1 << 16

    /// Reads lines until the end of the pipe, or until ``end()``.
    ///
    /// - Parameters:
    ///   - descriptor: The reading end, which is closed at the end.
    ///   - handler: Called with each line, without its line feed. An error ends the reading.
    /// - Returns: True if ``end()`` was called.
    /// - Throws: The error of the handler.
    func run(_ descriptor: Int32, _ handler: @escaping ([UInt8]) throws -> Void) async throws
        -> Bool
    {
        guard !isEnded else {
            close(descriptor)
            return true
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return try await withCheckedThrowingContinuation { continuation in
            waiter = continuation
            let source = DescriptorSource(descriptor, .reading) { [weak self] in
                self?.read(descriptor, handler)
            }
            self.source = source
            source.resume()
        }
    }

    /// Ends the reading.
    func end() {
        isEnded = true
        finish(.success(true))
    }

    /// Closes a descriptor that is not read.
    func close(_ descriptor: Int32) { Glibc.close(descriptor) }

    private func read(_ descriptor: Int32, _ handler: ([UInt8]) throws -> Void) {
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return finish(.success(false)) }
        do {
            let complete = chunk.withUnsafeBytes {
                lines.append(UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
            }
            for line in complete { try handler(line) }
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<Bool, any Error>) {
        source?.cancel()
        source = nil
        waiter?.resume(with: result)
        waiter = nil
    }
}
