internal import CLinux
internal import Glibc

/// One end of a pair of sockets that carry whole messages, with descriptors.
///
/// Does not own its descriptor.
package struct MessageSocket: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// Two ends, both closed when another program is executed; nil, with `errno`, where there are no
    /// descriptors left.
    ///
    /// The corresponding C function is `socketpair`.
    package static func makePair() -> (MessageSocket, MessageSocket)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        return (MessageSocket(descriptor: ends[0]), MessageSocket(descriptor: ends[1]))
    }

    /// A message that has come.
    package struct Message {
        package let bytes: [UInt8]
        /// The receiver closes them.
        package let descriptors: [Int32]
    }

    /// What came.
    package enum Arrival {
        case message(Message)
        /// Nothing yet, or nothing that can be taken.
        case nothing
        /// The other end is closed.
        case end
    }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - bytes: At most ``maximumMessageBytes``.
    ///   - descriptors: At most four; the sender keeps his.
    /// - Returns: Whether it is on its way; the other end may still be gone.
    package func send(_ bytes: [UInt8], _ descriptors: [Int32] = []) -> Bool {
        while true {
            let count = shim_send(
                descriptor, bytes, bytes.count, descriptors, Int32(descriptors.count))
            if count < 0 && errno == EINTR { continue }
            return count == bytes.count
        }
    }

    /// Takes the next message; waits for it, unless the descriptor does not block.
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
        return .message(
            Message(bytes: bytes, descriptors: Array(descriptors.prefix(Int(descriptorCount)))))
    }
}
