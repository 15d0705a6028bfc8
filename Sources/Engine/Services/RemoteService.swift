package import EngineModel
internal import Feeds
internal import Images
package import Likes
package import OAuth
package import ProviderKit
internal import Storage
internal import System
internal import Translation

/// The photos of an account at a remote service, with its credentials and the health of the service.
package final class RemoteService: AccountPhotos {
    /// The age up to which a profile is not fetched again, unless the user has logged in.
    static let profileFreshness = Duration.seconds(180)
    /// The time limit of a call that sends requests.
    package static let callTimeout = Duration.seconds(18)
    /// The time limit after which a profile is shown without its avatar.
    static let avatarTimeout = Duration.seconds(3)
    /// The time after which a small request budget counts as renewed, if the service does not report the time.
    static let budgetPeriod = Duration.seconds(3600)
    /// The largest number of notices of an account.
    package static let maximumNotices = 16

    let session: any Session
    package private(set) var rateLimit: RateLimit?
    /// The time at which ``rateLimit`` was received.
    private var rateLimitReceived = Timestamp(secondsSince1970: 0)
    /// The time of the next retry; nil if none is planned.
    package var retryAt: Timestamp? { retry?.due }
    let account: AccountID
    /// The provider and the host of the requests. Accounts with an equal text share probes.
    private let probeTarget: String
    package let credentials: Credentials
    let stores: RemoteStores
    let isWatched: (SourceID) -> Bool
    /// Returns true if only requests of clients may use the network.
    let isMetered: () -> Bool
    let report: (ServiceReport) -> Void
    let allowsLoopback: Bool
    /// True if the user allows that photos have their place.
    let showsLocation: Bool
    var health = ServiceHealth()
    private var isLoading = true
    /// The state of the account that the session reports; nil for `ready`.
    private var sessionProblem: AccountState?
    /// The timer of the next retry.
    private var retry: (due: Timestamp, task: Task<Void, Never>)?
    var isClosed = false
    /// True after a logout: later responses are not stored.
    var isForgotten = false
    /// True if the profile has to be fetched.
    var isProfileDue = true
    /// The reason for which the service denied likes to the account; nil after it accepted one.
    var likesDenial: Message?
    /// The time until which the service sends no images.
    var imagesLimitedUntil = Timestamp(secondsSince1970: 0)
    /// True if the number of likes has to be fetched once no like is pending.
    var isCountDue = false
    /// The time of the last profile that the service sent.
    var profileFetched: Timestamp?
    /// The number of profiles that the service sent.
    var profileResponses = 0
    /// The requests for the profile in progress. They continue after the time limit of a call.
    let profileRequests = SingleFlight<AccountID, Profile>()
    /// The images from which the sizes of photos were read.
    var measuredImages: Set<ImageStore.Key> = []
    /// The calls in progress. A logout ends them.
    let calls = CallGroup()
    private(set) var feed: CachedFeed?
    private(set) var likes: LikeSender?

    /// - Parameters:
    ///   - account: The account.
    ///   - session: The session that the provider created.
    ///   - credentials: The credentials of the requests of the session.
    ///   - stores: The stores of remote accounts.
    ///   - outbox: The stored likes of the account.
    ///   - probeTarget: The provider and the host of the requests. Accounts with an equal text share probes.
    ///   - allowsLoopback: True if the service may name addresses on loopback.
    ///   - showsLocation: True if the user allows that photos have their place.
    ///   - isWatched: Returns true if at least one watcher watches a source.
    ///   - isMetered: Returns true if only requests of clients may use the network.
    ///   - report: Receives the changes.
    package init(
        _ account: AccountID, _ session: any Session, _ credentials: Credentials,
        _ stores: RemoteStores, _ outbox: OutboxStore, probeTarget: String,
        allowsLoopback: Bool, showsLocation: Bool, isWatched: @escaping (SourceID) -> Bool,
        isMetered: @escaping () -> Bool, report: @escaping (ServiceReport) -> Void
    ) {
        self.account = account
        self.session = session
        self.credentials = credentials
        self.isWatched = isWatched
        self.isMetered = isMetered
        self.report = report
        self.stores = stores
        self.probeTarget = probeTarget
        self.allowsLoopback = allowsLoopback
        self.showsLocation = showsLocation
        credentials.onChange = { [weak self] in self?.credentialsChanged() }
        guard let remote = session.remoteFeed else { return }
        let feed = CachedFeed(account, remote, stores.feeds, owner: self)
        self.feed = feed
        guard let remote = session.remoteLikes else { return }
        likes = LikeSender(store: outbox, ports: feed) { remote.likeGroupPrefix($0) ?? $0.text }
    }

    // MARK: State

    package var state: AccountState {
        if let problem = sessionProblem ?? credentials.problem ?? health.problem(now: now) {
            return problem
        }
        return isLoading ? .loading(reason: Message("The account is being opened.")) : .ready
    }

    /// The number of photos that the user likes: the number of the service with the likes that were confirmed since,
    /// else the number of cached photos that are liked. For a service that never has likes, the number of local likes.
    package var likeCount: Int {
        get {
            guard let likes, feed?.hasLocalLikes == true, likes.isLoaded else {
                return knownLikeCount
            }
            return likes.outbox.local.count(where: \.isWanted)
        }
        set { knownLikeCount = newValue }
    }
    private var knownLikeCount = 0

    package func start() {
        // The keyring and the service may reply later.
        updateLikeCount()
        Task {
            // The errors are reported by the state of the account.
            try? await likes?.load()
            _ = try? await credentials.load()
            isLoading = false
            report(.event(.changed(.state)))
            await restoreProfile()
            likes?.deliver()
        }
    }

    package func close() {
        isClosed = true
        retry?.task.cancel()
        likes?.close()
        session.close()
        // Breaks the retain cycles: `likes` and `feed` hold this service, so that their requests in progress can
        // complete.
        likes = nil
        feed = nil
    }

    package var events: AsyncStream<SessionEvent> { session.events }

    package var notices: [String] {
        // Another state has its own reason, which is that of the sources as well.
        let problems = state == .ready ? feed?.activity.problems ?? [] : []
        let imageLimit = now < imagesLimitedUntil ? imagesLimitedUntil.localClock(now: now) : nil
        let others = [
            imageLimit.map { tr("The service sends no more images until {time}.", ["time": $0]) },
            likesDenial?.translated,
        ]
        return problems.prefix(Self.maximumNotices) + others.compactMap(\.self)
    }

    package func adopt(_ token: OAuthToken) {
        credentials.adopt(token)
        isProfileDue = true
        Task { await sendPendingRequests() }
    }

    /// Called if the network is back, or the keyring is unlocked.
    package func retryNow() {
        guard !isClosed else { return }
        Task { await credentials.storeUnsavedToken() }
        guard state != .ready || health.wantsRetry || likes?.hasWork == true else { return }
        if case .rateLimited = health.problem(now: now) { return }
        Task {
            do {
                try await credentials.load()
            } catch {
                return
            }
            await sendPendingRequests()
        }
    }

    /// Starts the timers again, which were suspended with the machine.
    package func resumed() {
        guard retry != nil else { return retryNow() }
        cancelRetry()
        if case .rateLimited = health.problem(now: now) { scheduleRetry() }
        report(.event(.changed(.state)))
        retryNow()
    }

    /// Sends the pending requests, because the service may be available again.
    private func sendPendingRequests() async {
        if health.hasFailed || isProfileDue {
            await probe()
            // Other requests would fail, too; a retry is planned.
            guard !health.hasFailed else { return }
        }
        feed?.retryNow()
        likes?.deliver()
    }

    /// Fetches the profile, to check if the service is available and accepts the token.
    func probe() async {
        let verdict = await stores.probes.probe(probeTarget) { [weak self] in
            // Another request may have had a result in the meantime.
            guard let self, health.hasFailed || isProfileDue else { return .none }
            do {
                _ = try await profile()
                return .available
            } catch {
                report(.profileFailed)
                return ServiceHealth.Verdict(error)
            }
        }
        // The result may be that of another account.
        if case .unreachable = verdict { record(verdict) }
    }

    package func limit(until: Timestamp?) {
        health.record(.rateLimited(until: until), now: now)
        scheduleRetry()
        report(.event(.changed(.state)))
    }

    package func update(_ status: SessionStatus) {
        let before = state
        sessionProblem = status == .ready ? nil : AccountState(status)
        if state != before { report(.event(.changed(.state))) }
    }

    /// Ends the state that the session reported because a request succeeded, unless it needs an action of the user.
    func endReportedState() {
        switch sessionProblem {
        case .failed(_, .retry?)?, .loading?: update(.ready)
        default: break
        }
    }

    package func update(_ limit: RateLimit) {
        rateLimitReceived = now
        guard limit != rateLimit else { return }
        rateLimit = limit
        report(.event(.changed(.state)))
    }

    /// Less than a quarter of the budget is reserved for clients.
    package var refreshPermission: RefreshPermission {
        guard let limit = rateLimit, Double(limit.remaining) < Double(limit.limit) / 4,
            rateLimitReceived <= now
        else { return .permitted }
        let end = min(
            limit.reset ?? rateLimitReceived + Self.budgetPeriod,
            rateLimitReceived + ServiceHealth.longestRateLimitPause)
        return now < end ? .deniedUntil(end) : .permitted
    }

    /// Records the result of a request.
    func record(_ verdict: ServiceHealth.Verdict) {
        guard verdict != .none else { return }
        let (before, retryBefore) = (health.problem(now: now), retryAt)
        health.record(verdict, now: now)
        if case .rateLimited(let until) = verdict { report(.rateLimited(until: until)) }
        scheduleRetry()
        let problem = health.problem(now: now)
        if problem != before || retryAt != retryBefore { report(.event(.changed(.state))) }
        // Pending requests are sent after the first response.
        if before != nil, problem == nil {
            feed?.retryNow()
            likes?.deliver()
        }
    }

    /// Sets the timer of the next retry, if one is necessary.
    func scheduleRetry() {
        let pause: Duration
        // Without a token, a retry is useless. A new token starts the requests again.
        if isClosed || credentials.problem != nil {
            return cancelRetry()
        } else if case .rateLimited(let until) = health.problem(now: now) {
            // The timer of a limit continues if the system clock is set.
            guard retryAt != until else { return }
            pause = .seconds(until.secondsSince1970 - now.secondsSince1970)
        } else if health.wantsRetry {
            // Requests of callers do not delay it.
            guard retry == nil else { return }
            pause = health.pause(jitter: Double.random(in: 0...1))
        } else {
            return cancelRetry()
        }
        retry?.task.cancel()
        let task = clock.after(pause) { [weak self] in await self?.retryAutomatically() }
        retry = (now + pause, task)
    }

    private func cancelRetry() {
        retry?.task.cancel()
        retry = nil
    }

    private func retryAutomatically() async {
        // The result must not cancel this task.
        retry = nil
        health.recordRetry()
        // The system clock may have been set in the meantime.
        health.rateLimitEnded()
        report(.event(.changed(.state)))
        await sendPendingRequests()
    }

    // MARK: Logout

    /// The error of the calls that a logout ends.
    static let loggedOutError = EngineError.needsLogin(
        Message("The account was logged out during the call; log in again."))

    package func forget() async throws {
        // Responses that arrive later must not be stored after the deletion.
        isForgotten = true
        calls.end(Self.loggedOutError)
        feed?.cancelRequests()
        profileRequests.cancelAll()
        try await likes?.clear()
        await stores.images.forget(account)
        if feed != nil { await stores.feeds.forget(account) }
    }
}

/// A report of a remote service to its account.
package enum ServiceReport {
    case event(AccountEvent)
    /// The profile is known, from the cache or from the service.
    case profile(Profile)
    /// A request for the profile failed, and no call waited for it.
    case profileFailed
    /// The service reported the user of the token.
    case user(Profile)
    /// A source was refreshed.
    case refreshed(SourceID)
    /// The service limits requests until a time.
    case rateLimited(until: Timestamp?)
}
