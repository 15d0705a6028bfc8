internal import Glibc
internal import System

/// Reads the lines of a pipe as they arrive.
@MainActor
final class LineReader {
    private var lines = LineBuffer()
    private let result = OneShotResult<Void, any Error>()

    private static let chunkBytes = 1 << 16

    /// Reads lines until the end of the pipe.
    ///
    /// - Parameters:
    ///   - descriptor: The reading end, which is closed at the end.
    ///   - handler: Called with each line, without its line feed. An error ends the reading.
    /// - Throws: The error of the handler.
    func run(_ descriptor: Int32, _ handler: @escaping ([UInt8]) throws -> Void) async throws {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // The source keeps the reader until it is cancelled.
        let source = DescriptorSource(descriptor, .reading) { self.read(descriptor, handler) }
        source.resume()
        defer { source.cancel() }
        try await result.value()
    }

    private func read(_ descriptor: Int32, _ handler: ([UInt8]) throws -> Void) {
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            result.complete(.success(()))
            return
        }
        do {
            let complete = chunk.withUnsafeBytes {
                lines.append(UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
            }
            for line in complete where !result.isComplete { try handler(line) }
        } catch {
            result.complete(.failure(error))
        }
    }
}
