internal import ProviderKit

/// A photo on its way into a caller's descriptor: from its start to its end, and a minute longer.
package final class Transfer {
    package enum State: String {
        case running
        case done
        case failed
        case cancelled
    }

    /// How long a transfer stays after its end, for whoever asks late.
    package static let lingering = Duration.seconds(60)
    /// The largest number of running transfers of one client.
    nonisolated package static let maximumUnfinishedPerClient = 8
    /// The largest number of running transfers of all clients.
    nonisolated package static let maximumUnfinished = 32
    /// How often clients are told of its progress at most.
    static let pauseBetweenReports = Duration.milliseconds(100)

    package let number: Int
    package private(set) var state = State.running
    /// How many bytes have come: from the service if they have to be fetched, else into the descriptor.
    package private(set) var received = 0
    /// How many there will be; 0 as long as nobody says.
    package private(set) var total = 0
    package private(set) var error: (any Error)?
    let account: Account
    /// The client that started the transfer.
    let client: String
    private let engine: Engine
    private var work: Task<Void, Never>?
    private var waiters: [CheckedContinuation<Void, any Error>] = []
    /// Runs for a moment after clients were told; what comes meanwhile waits.
    private var pause: Task<Void, Never>?
    private var hasNews = false
    /// Waits until the transfer is forgotten.
    private var retention: Task<Void, Never>?

    init(number: Int, of account: Account, for client: String, in engine: Engine) {
        self.client = client
        self.number = number
        self.account = account
        self.engine = engine
    }

    /// Whether nothing of it goes on: a transfer that was cancelled may write for a moment more.
    var isOver: Bool { hasEnded && work == nil }

    private var hasEnded: Bool { state != .running }

    /// Lets the transfer go on.
    ///
    /// - Parameters:
    ///   - original: What is transferred.
    ///   - destination: Where it goes; let go at the end.
    func begin(_ original: Original, to destination: TransferDestination) {
        work = Task {
            do {
                let source = try await original.open { [weak self] in
                    self?.note($0.received, of: $0.total)
                }
                let copy = try FileCopy(of: source, to: destination)
                note(0, of: copy.total)
                try await copy.run { [weak self] in self?.note($0, of: copy.total) }
                if !hasEnded {
                    (received, total) = (copy.total, copy.total)
                    end(.done)
                    // It is done, whether the service hears of it or not.
                    Task { try? await original.count() }
                }
            } catch {
                end(.failed, error)
            }
            work = nil
        }
    }

    /// Waits for the end; at once if it has come already.
    package func wait() async throws {
        if hasEnded {
            if let error { throw error }
        } else {
            try await withCheckedThrowingContinuation { waiters.append($0) }
        }
    }

    /// Ends the transfer, and returns when nothing is written any more. One that has ended stays as it is.
    package func cancel() async {
        stop("The transfer was cancelled.")
        await work?.value
    }

    /// Ends the transfer. What has been written stays.
    func stop(_ reason: String) {
        guard !hasEnded else { return }
        end(.cancelled, EngineError.cancelled(reason))
        work?.cancel()
    }

    // MARK: Telling

    private func note(_ received: Int, of total: Int?) {
        guard !hasEnded else { return }
        let known = (self.received, self.total)
        // What was fetched is written afterwards: that is no news.
        self.received = max(self.received, received)
        self.total = total ?? self.total
        guard known != (self.received, self.total) else { return }
        hasNews = true
        if pause == nil { tellNews() }
    }

    private func tellNews() {
        hasNews = false
        engine.observer?.transferChanged(self)
        pause = Task { [weak self, clock = engine.ports.clock] in
            do { try await clock.sleep(for: Self.pauseBetweenReports) } catch { return }
            guard let self, !hasEnded else { return }
            pause = nil
            if hasNews { tellNews() }
        }
    }

    private func end(_ state: State, _ error: (any Error)? = nil) {
        guard !hasEnded else { return }
        self.state = state
        self.error = error
        pause?.cancel()
        pause = nil
        engine.observer?.transferChanged(self)
        for waiter in waiters { waiter.resume(with: error.map { .failure($0) } ?? .success(())) }
        waiters.removeAll()
        retention = Task { [weak self, engine] in
            do { try await engine.ports.clock.sleep(for: Self.lingering) } catch { return }
            if let self { engine.transfers.forget(self) }
        }
        engine.transfers.finished(self)
    }

    /// Stops waiting, because the transfer is forgotten.
    func endRetention() { retention?.cancel() }
}

/// The best there is of a photo, before it is fetched.
struct Original {
    /// Opens it, fetched if need be; told how that goes. The caller closes the descriptor.
    let open: (_ progress: @escaping (HTTPProgress) -> Void) async throws -> Int32
    /// Tells the service that it was downloaded, where it counts that.
    let count: () async throws -> Void
}
