internal import CLinux
internal import Glibc

/// One end of a socket pair that transfers whole messages with descriptors.
///
/// This type does not close its descriptor.
package struct MessageSocket: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// The result of ``receive()``.
    package enum Arrival {
        /// A message. The receiver closes the descriptors.
        case message([UInt8], descriptors: [Int32])
        /// There is no message, or it cannot be received.
        case nothing
        /// The other end is closed.
        case end
    }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - bytes: At most ``maximumMessageBytes``.
    ///   - descriptors: At most four. The sender keeps and closes its own.
    /// - Returns: True if the message was sent; the other end may already be closed.
    package func send(_ bytes: [UInt8], _ descriptors: [Int32] = []) -> Bool {
        while true {
            let count = shim_send(
                descriptor, bytes, bytes.count, descriptors, Int32(descriptors.count))
            if count < 0 && errno == EINTR { continue }
            return count == bytes.count
        }
    }

    /// Receives the next message. Waits for it if the descriptor is blocking.
    package func receive() -> Arrival {
        var descriptors = [Int32](repeating: -1, count: Int(SHIM_MOST_DESCRIPTORS))
        var descriptorCount: Int32 = 0
        var received = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumMessageBytes) { buffer, count in
            repeat {
                received = shim_receive(
                    descriptor, buffer.baseAddress, buffer.count, &descriptors, &descriptorCount)
            } while received < 0 && errno == EINTR
            count = max(0, received)
        }
        if received == 0 { return .end }
        guard received > 0 else { return errno == ECONNRESET ? .end : .nothing }
        return .message(bytes, descriptors: Array(descriptors.prefix(Int(descriptorCount))))
    }
}
