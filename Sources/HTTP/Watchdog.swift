internal import Dispatch
internal import ProviderKit

/// Sees to it that a transfer takes no longer than it may: in all, and between two signs of life.
///
/// One timer, which looks what is due when it goes off: bytes that come do not touch it.
final class Watchdog {
    private let silence: Duration
    private let timeLimit: Duration
    private let onExpiry: (HTTPError) -> Void
    private var deadline: SuspendingClock.Instant?
    private var lastSign = SuspendingClock.now
    private let timer = DispatchSource.makeTimerSource(queue: .main)

    /// Silence counts from here on: it is the server's turn.
    var isConnected = false {
        didSet {
            wasConnected = wasConnected || isConnected
            restart()
        }
    }

    /// Whether any server was reached, be it the one before a redirect.
    private var wasConnected = false

    /// Whether it is we who do not listen.
    var isHeld = false {
        didSet { restart() }
    }

    init(_ timeLimit: Duration, silence: Duration, onExpiry: @escaping (HTTPError) -> Void) {
        self.timeLimit = timeLimit
        self.silence = silence
        self.onExpiry = onExpiry
        deadline = SuspendingClock.now + timeLimit
        timer.setEventHandler { [unowned self] in check() }
        schedule()
        timer.activate()
    }

    func stirred() { lastSign = .now }

    /// From now on, it may take as long as it takes.
    func liftDeadline() { deadline = nil }

    func cancel() { timer.cancel() }

    private func restart() {
        lastSign = .now
        schedule()
    }

    private var silenceEnd: SuspendingClock.Instant? {
        isConnected && !isHeld ? lastSign + silence : nil
    }

    private func check() {
        let now = SuspendingClock.now
        if let deadline, deadline <= now {
            onExpiry(
                wasConnected
                    ? .failed("no answer within \(timeLimit)")
                    : .unreachable("no connection within \(timeLimit)"))
        } else if let silenceEnd, silenceEnd <= now {
            onExpiry(.failed("silence for \(silence)"))
        } else {
            schedule()
        }
    }

    private func schedule() {
        let due = [deadline, silenceEnd].compactMap(\.self).min()
        guard let due else { return timer.schedule(deadline: .distantFuture) }
        let rest = max(.zero, due - .now)
        // A century is as good as for ever, and a number that fits.
        let milliseconds = Int(min(rest / .milliseconds(1), 3e12).rounded(.up))
        timer.schedule(deadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(50))
    }
}
