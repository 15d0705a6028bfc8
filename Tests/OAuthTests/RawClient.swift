import Glibc
import System
import TestSupport

/// A client that connects to a port of 127.0.0.1 and sends any bytes.
@MainActor
final class RawClient {
    struct Received {
        var text = ""
        /// True if the other side closed the connection.
        var isComplete = false
    }

    let received = Observed(Received())
    private let descriptor: Int32
    private var source: DescriptorSource?

    /// Connects. The queue of the listener must have room.
    ///
    /// - Throws: ``SystemError``.
    init(port: UInt16) throws {
        descriptor = try LoopbackSocket.connect(to: port)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        source = DescriptorSource(descriptor, .reading) { [weak self] in self?.receive() }
        source?.resume()
    }

    isolated deinit { source?.cancel() }

    /// Sends as many bytes as the connection accepts.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Closes the connection.
    func close() { source?.cancel() }

    /// Returns all bytes that arrived until the other side closed the connection.
    func answer() async throws -> String {
        try await received.wait { $0.isComplete ? $0.text : nil }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 {
            received.update { $0.text += String(decoding: buffer[..<count], as: UTF8.self) }
        } else {
            source?.cancel()
            received.update { $0.isComplete = true }
        }
    }
}
