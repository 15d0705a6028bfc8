internal import ProviderKit
internal import Synchronization

/// The date of the source `memories`, which changes at midnight.
///
/// A timer detects the change, only while the source is watched. Its pauses are short, so that a changed clock or time
/// zone, and a midnight during a suspend, are also detected.
final class MemoriesWatch: Sendable {
    private struct State {
        /// The sessions whose users watch the source.
        var watchers: Set<Int> = []
        /// The date of the photos that clients have read last.
        var date: CalendarDate?
        var timer: Task<Void, Never>?
    }

    /// The longest pause of the timer.
    static let longestPause = Duration.seconds(900)

    private let calendar: LocalCalendar
    private let clock: any Clock<Duration>
    private let onChange: @Sendable (_ before: CalendarDate, _ after: CalendarDate) async -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - calendar: The present date.
    ///   - clock: Measures the pauses.
    ///   - onChange: Called when the date of a watched source has changed.
    init(
        _ calendar: LocalCalendar, clock: any Clock<Duration>,
        onChange: @escaping @Sendable (_ before: CalendarDate, _ after: CalendarDate) async -> Void
    ) {
        self.calendar = calendar
        self.clock = clock
        self.onChange = onChange
    }

    /// The present date.
    var date: CalendarDate { calendar.today.date }

    /// True if the timer runs.
    var isActive: Bool { state.withLock { $0.timer != nil } }

    /// Starts or ends the watch of a session.
    func setWatched(_ isWatched: Bool, by session: Int) {
        let today = date
        let mustStart = state.withLock { state in
            if isWatched {
                state.watchers.insert(session)
            } else {
                state.watchers.remove(session)
            }
            guard !state.watchers.isEmpty else {
                state.timer?.cancel()
                state.timer = nil
                return false
            }
            if state.date == nil { state.date = today }
            return state.timer == nil
        }
        guard mustStart else { return }
        let timer = makeTimer()
        state.withLock { state in
            if state.watchers.isEmpty || state.timer != nil {
                timer.cancel()
            } else {
                state.timer = timer
            }
        }
    }

    /// Ends all watches permanently.
    func stop() {
        state.withLock { state in
            state.watchers = []
            state.timer?.cancel()
            state.timer = nil
        }
    }

    /// Reports the change if the date has changed since the last call.
    ///
    /// - Parameter today: The date of the photos that a client reads; nil for the present date.
    func update(_ today: CalendarDate? = nil) {
        let today = today ?? date
        let before = state.withLock { state in
            defer { state.date = today }
            return state.watchers.isEmpty || state.date == today ? nil : state.date
        }
        guard let before else { return }
        Task { @MainActor [onChange] in await onChange(before, today) }
    }

    private func makeTimer() -> Task<Void, Never> {
        Task { @MainActor [weak self, clock] in
            while let pause = self?.pause {
                do { try await clock.sleep(for: pause) } catch { return }
                self?.update()
            }
        }
    }

    private var pause: Duration? {
        state.withLock(\.watchers.isEmpty) ? nil : min(calendar.today.rest, Self.longestPause)
    }
}
