internal import Glibc
internal import ProviderKit
internal import System

/// One connection of a browser, for one request and one response.
///
/// Its source retains the object until the connection is closed, at the latest by a deadline.
@MainActor
final class RedirectConnection {
    /// The time limit for the request, from the beginning of the connection.
    static let requestTime = Duration.seconds(5)
    /// The time that a browser waits for the end of a login.
    static let verdictTime = Duration.seconds(30)
    /// The time limit for the browser to close the connection after the response.
    private static let drainTime = Duration.seconds(2)
    /// The number of bytes after the head that are discarded before the connection is closed.
    private static let maximumDiscarded = 64 << 10
    private static let headEnd = Array("\r\n\r\n".utf8)

    private enum Phase {
        /// The head of the request is incomplete.
        case reading
        /// The request is complete and has no response yet.
        case waiting
        /// The response was sent. Closing the socket now could reset the connection before a browser that is still
        /// sending reads the response.
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
    private weak let listener: RedirectListener?

    /// True if the browser has sent nothing so far. Browsers open connections in advance.
    var isIdle: Bool { phase == .reading && head.isEmpty }
    /// True if the request is incomplete, or the response has been sent.
    var isExpendable: Bool { phase != .waiting }

    /// Creates a connection. ``begin()`` starts it.
    ///
    /// - Parameters:
    ///   - descriptor: A nonblocking socket. The connection closes it.
    ///   - clock: The clock of the deadlines.
    ///   - listener: Answers the request.
    init(_ descriptor: Int32, clock: any Clock<Duration>, _ listener: RedirectListener) {
        self.descriptor = descriptor
        self.clock = clock
        self.listener = listener
    }

    /// Begins to read.
    func begin() {
        // The source retains this object until `close`.
        source = DescriptorSource(descriptor, .reading) { self.receive() }
        source?.resume()
        setDeadline(Self.requestTime) { $0.close() }
    }

    /// Sends the response. Bytes that arrive later are discarded until the browser closes the connection.
    func send(_ page: ResponsePage) {
        guard phase == .reading || phase == .waiting else { return }
        phase = .draining
        // A page (less than 8 KiB) fits into the send buffer of a new connection.
        let bytes = page.bytes
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count == bytes.count, shutdown(descriptor, Int32(SHUT_WR)) == 0 else {
            return close()
        }
        setDeadline(Self.drainTime) { $0.close() }
    }

    /// Keeps the connection open until ``send(_:)``, for a limited time.
    func waitForVerdict() { setDeadline(Self.verdictTime) { $0.send(.unsettled) } }

    func close() {
        guard phase != .closed else { return }
        phase = .closed
        deadline?.cancel()
        source?.cancel()
        source = nil
        head.wipe()
        listener?.remove(self)
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
            defer { buffer.wipe() }
            // Reads a limited number of pieces in each round of the event loop.
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
        // The empty line may be split between two pieces.
        let searched = max(0, head.count - 3)
        head += bytes
        guard let end = head[searched...].firstRange(of: Self.headEnd)?.lowerBound else {
            if head.count > RequestHead.maximumLength { send(.tooLarge) }
            return
        }
        guard end <= RequestHead.maximumLength else { return send(.tooLarge) }
        let request = RequestHead(head[..<end])
        head.wipe()
        head = []
        guard let request else { return send(.malformed) }
        phase = .waiting
        if let listener { listener.answer(request, self) } else { close() }
    }
}
