internal import System
internal import Translation
internal import Web

/// The time limits of a transfer: in total, in the queue, and for the next data of the server.
///
/// The total limit of a download applies only until its body begins. Then the same time is the limit for the next bytes
/// of the body, retries included. The time in the queue counts for requests, and not for downloads.
///
/// One timer checks the limits when it fires. Arriving bytes do not restart the timer.
final class Watchdog {
    /// The phases of a transfer.
    enum State {
        /// The transfer waits for a connection.
        case queued
        /// The transfer connects, or waits for its next attempt.
        case connecting
        /// The transfer waits for the next bytes of the server.
        case connected
        /// The transfer is paused until earlier data is written to the file, or memory is available.
        case held
    }

    /// The longest time without data from a connected server.
    private let silence: Duration
    /// The total limit, and the limit between the bytes of a body that is written to a file.
    private let timeLimit: Duration
    /// The limit for the queue; nil if the time in the queue counts as part of the time limit.
    private let queueing: Duration?
    private unowned let transfer: CurlTransfer
    private var deadline: SuspendingClock.Instant
    private var lastSign = SuspendingClock.now
    /// The beginning of the current state.
    private var stateBegan = SuspendingClock.now
    private var hasBody = false
    /// The time at which the connection became doubtful, and the limit for the next data after that; nil if the
    /// connection is not doubtful.
    private var doubt: (start: SuspendingClock.Instant, limit: Duration)?
    /// nil after ``cancel()``.
    private var timer: MainLoopTimer?

    /// The current phase.
    var state = State.connecting {
        didSet {
            let now = SuspendingClock.now
            if oldValue == .queued {
                wasDelayed = wasDelayed || now - stateBegan >= .seconds(1)
                if queueing != nil { deadline += now - stateBegan }
            }
            // The server cannot send data while the transfer is paused.
            if oldValue == .held, hasBody { deadline = now + timeLimit }
            stateBegan = now
            wasConnected = wasConnected || state == .connected
            lastSign = now
            doubt = nil
            schedule()
        }
    }

    /// True if a connection to any server of the transfer was made, including servers before a redirect.
    private var wasConnected = false
    /// True if the time in the queue may have caused the timeout of a connection.
    private var wasDelayed = false

    init(_ transfer: CurlTransfer) {
        self.transfer = transfer
        let limits = transfer.client.limits
        timeLimit = transfer.request.timeLimit
        silence = limits.silence
        queueing = transfer.download == nil ? nil : limits.queueing
        deadline = SuspendingClock.now + timeLimit
        timer = MainLoopTimer { [unowned self] in check() }
        schedule()
    }

    /// Records the arrival of data from the server.
    func stirred() { lastSign = .now }

    /// Records the arrival of bytes of a body that is written to a file.
    func bodyStirred() {
        hasBody = true
        deadline = lastSign + timeLimit
    }

    func cancel() { timer = nil }

    /// Shortens the limit for the next data of a connected server, once.
    func doubtConnection(for limit: Duration) {
        guard state == .connected else { return }
        doubt = (.now, limit)
        schedule()
    }

    /// Returns true if a connected server has sent nothing for `duration`.
    func isSilent(for duration: Duration) -> Bool {
        state == .connected && SuspendingClock.now - lastSign >= duration
    }

    private var currentDeadline: SuspendingClock.Instant? {
        switch state {
        case .queued: queueing.map { stateBegan + $0 } ?? deadline
        case .held where hasBody: nil
        case .connecting, .connected, .held: deadline
        }
    }

    private var silenceEnd: SuspendingClock.Instant? {
        guard state == .connected else { return nil }
        let end = lastSign + silence
        return activeDoubt.map { min($0.start + $0.limit, end) } ?? end
    }

    /// The value of ``doubt``; nil if data has arrived since then.
    private var activeDoubt: (start: SuspendingClock.Instant, limit: Duration)? {
        doubt.flatMap { lastSign > $0.start ? nil : $0 }
    }

    private func check() {
        let now = SuspendingClock.now
        if let currentDeadline, currentDeadline <= now {
            transfer.limitExpired(error, mayResume: false)
        } else if let silenceEnd, silenceEnd <= now {
            let limit = activeDoubt?.limit ?? silence
            transfer.limitExpired(Self.silent(for: limit), mayResume: true)
        } else {
            schedule()
        }
    }

    private var error: HTTPError {
        if state == .queued {
            return .failed(
                Message(
                    "no connection was free for {time}",
                    messages: ["time": (queueing ?? timeLimit).secondsMessage()]))
        }
        if hasBody { return Self.silent(for: timeLimit) }
        return wasConnected || wasDelayed
            ? .failed(
                Message(
                    "the server did not respond within {time}",
                    messages: ["time": timeLimit.secondsMessage()]))
            : .unreachable(
                Message(
                    "no connection was established within {time}",
                    messages: ["time": timeLimit.secondsMessage()]))
    }

    private static func silent(for time: Duration) -> HTTPError {
        .failed(
            Message(
                "the server sent nothing for {time}", messages: ["time": time.secondsMessage()]))
    }

    private func schedule() {
        let due = [currentDeadline, silenceEnd].compactMap(\.self).min()
        guard let due else {
            timer?.cancel()
            return
        }
        timer?.start(after: due - .now)
    }
}
