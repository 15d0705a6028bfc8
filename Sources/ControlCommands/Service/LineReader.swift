internal import Glibc
internal import System

/// Reads the lines of a pipe as they arrive, until its end.
///
/// - Parameters:
///   - descriptor: The reading end, which is closed at the end.
///   - handler: Called with each line, without its line feed. An error ends the reading.
/// - Throws: The error of the handler.
@MainActor
func readLines(of descriptor: Int32, _ handler: @escaping ([UInt8]) throws -> Void) async throws {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var lines = LineBuffer()
    let end = OneShotResult<Void, any Error>()
    let source = DescriptorSource(descriptor, .reading) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else {
            end.complete(.success(()))
            return
        }
        do {
            let complete = chunk.withUnsafeBytes {
                lines.append(UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
            }
            for line in complete where !end.isComplete { try handler(line) }
        } catch {
            end.complete(.failure(error))
        }
    }
    source.resume()
    defer { source.cancel() }
    try await end.value()
}
