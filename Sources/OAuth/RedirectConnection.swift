internal import Glibc
internal import System

/// One connection of a browser: it may send one request, is answered, and goes.
///
/// Lives by itself until it is closed, which a deadline sees to whatever the other side does.
@MainActor
final class RedirectConnection {
    /// How long a request may take to come, from the first moment.
    static let requestTime = Duration.seconds(5)
    /// How long a browser is left waiting for the end of a login.
    static let verdictTime = Duration.seconds(30)
    /// How long the other side may take to go once it is answered.
    private static let drainTime = Duration.seconds(2)
    /// How much of what follows the head is thrown away before the connection is.
    private static let maximumDiscarded = 64 << 10

    private enum Phase {
        /// The head of a request is coming.
        case reading
        /// Its answer is being found.
        case waiting
        /// Answered. Closing now might take the answer away from a browser that is still sending.
        case draining
        case closed
    }

    private let descriptor: Int32
    private let clock: any Clock<Duration>
    private var phase = Phase.reading
    private var source: DescriptorSource?
    private var deadline: Task<Void, Never>?
    private var head: [UInt8] = []
    private var discarded = 0
    private let onRequest: (RequestHead, RedirectConnection) -> Void
    private let onClose: (RedirectConnection) -> Void

    /// Whether it has sent nothing so far: a browser connects ahead in case it needs to.
    var isIdle: Bool { phase == .reading && head.isEmpty }
    /// Whether its request is still to come, or its answer has been sent.
    var isExpendable: Bool { phase != .waiting }

    /// - Parameters:
    ///   - descriptor: A socket that does not block. It is closed here.
    ///   - clock: Of the deadlines.
    ///   - onRequest: Called at most once. ``send(_:)`` or ``waitForVerdict()`` follows.
    ///   - onClose: Called once, at the end.
    init(
        _ descriptor: Int32, clock: any Clock<Duration>,
        onRequest: @escaping (RequestHead, RedirectConnection) -> Void,
        onClose: @escaping (RedirectConnection) -> Void
    ) {
        self.descriptor = descriptor
        self.clock = clock
        self.onRequest = onRequest
        self.onClose = onClose
    }

    /// Reads from now on.
    func begin() {
        // The source keeps this object until `close`.
        source = DescriptorSource(descriptor, .reading) { self.receive() }
        source?.resume()
        setDeadline(Self.requestTime) { $0.close() }
    }

    /// Answers. What comes after that is read and thrown away until the other side goes.
    func send(_ page: ResponsePage) {
        guard phase == .reading || phase == .waiting else { return }
        phase = .draining
        // A page (less than 8 KiB) is smaller than what the kernel takes at once on a new connection.
        let bytes = page.bytes
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count == bytes.count, shutdown(descriptor, Int32(SHUT_WR)) == 0 else {
            return close()
        }
        setDeadline(Self.drainTime) { $0.close() }
    }

    /// Leaves the browser waiting for ``send(_:)``, but not for ever.
    func waitForVerdict() {
        setDeadline(Self.verdictTime) { $0.send(.unsettled) }
    }

    func close() {
        guard phase != .closed else { return }
        phase = .closed
        deadline?.cancel()
        source?.cancel()
        source = nil
        head.wipe()
        onClose(self)
    }

    private func setDeadline(
        _ time: Duration, _ end: @escaping @MainActor (RedirectConnection) -> Void
    ) {
        deadline?.cancel()
        deadline = Task { [clock] in
            guard (try? await clock.sleep(for: time)) != nil, !Task.isCancelled else { return }
            end(self)
        }
    }

    private func receive() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard let address = buffer.baseAddress else { return }
            defer { explicit_bzero(address, buffer.count) }
            // A few at a time: others want their turn.
            for _ in 0..<8 where phase != .closed {
                let count = recv(descriptor, address, buffer.count, 0)
                if count > 0 {
                    take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                } else if count < 0 && errno == EAGAIN {
                    return
                } else if count == 0 || errno != EINTR {
                    return close()
                }
            }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard phase == .reading else {
            discarded += bytes.count
            if discarded > Self.maximumDiscarded { close() }
            return
        }
        // The end may lie across two pieces.
        let searched = max(0, head.count - 3)
        head += bytes
        guard let end = head[searched...].firstIndex(ofLineEnds: 2) else {
            if head.count > RequestHead.maximumLength { send(.tooLarge) }
            return
        }
        guard end <= RequestHead.maximumLength else { return send(.tooLarge) }
        let request = RequestHead(head[..<end])
        head.wipe()
        head = []
        guard let request else { return send(.malformed) }
        phase = .waiting
        onRequest(request, self)
    }
}

nonisolated extension ArraySlice<UInt8> {
    /// Where that many `\r\n` in a row begin.
    fileprivate func firstIndex(ofLineEnds count: Int) -> Int? {
        let ends = Array(repeatElement("\r\n", count: count).joined().utf8)
        guard self.count >= ends.count else { return nil }
        return (startIndex...endIndex - ends.count).first {
            self[$0..<$0 + ends.count].elementsEqual(ends)
        }
    }
}
