internal import OAuth
internal import ProviderKit
internal import Storage

/// An account at a service of the network: its credentials, how the service is doing, its photos and likes.
final class RemoteService: PhotoService {
    /// How young a profile is that is not asked for again, unless somebody has logged in.
    static let profileFreshness = Duration.seconds(180)
    /// How long a client waits for something that has to be asked for.
    static let patience = Duration.seconds(18)
    /// The time limit after which a profile is shown without its avatar.
    static let avatarTimeout = Duration.seconds(3)
    /// The time after which a small request budget counts as renewed, if the service does not name the time.
    static let budgetPeriod = Duration.seconds(3600)

    let session: any Session
    private(set) var rateLimit: RateLimit?
    /// The time at which ``rateLimit`` was received.
    private var rateLimitReceived = Timestamp(secondsSince1970: 0)
    /// When the next try by itself will be.
    private(set) var retryAt: Timestamp?
    let account: AccountID
    /// The host of its requests. Accounts of one provider at one host share probes.
    private let probeTarget: HostProbes.Target
    let credentials: Credentials
    private let ports: EnginePorts
    let stores: RemoteStores
    weak var owner: (any RemoteServiceOwner)?
    let allowsLoopback: Bool
    private var health = ServiceHealth()
    private var isLoading = true
    /// Why the session says that it cannot work.
    private var brokenSession: (reason: String, remedy: Remedy?)?
    private var retry: Task<Void, Never>?
    var isClosed = false
    /// Whether what still comes in is not to be kept.
    var isForgotten = false
    /// Whether the service is to be asked who the user is.
    var isProfileDue = true
    /// Whether its word counts for how many photos the user likes, once all that is left to send is sent.
    private var isCountDue = false
    /// When it was asked last, and has answered.
    var profileFetched: Timestamp?
    /// The number of profiles that the service sent.
    var profileAnswers = 0
    /// The requests for the profile in progress. They continue after the time limit of a call.
    let profileRequests = SingleFlight<AccountID, Profile>()
    /// Waits for the day on which a service without likes is asked again.
    private var daily: (due: Timestamp, task: Task<Void, Never>)?
    /// The calls in progress. A logout ends them.
    let calls = CallGroup()
    private(set) var feed: CachedFeed?
    private(set) var likes: Likes?

    /// - Parameters:
    ///   - account: Whose it is.
    ///   - session: What the provider made.
    ///   - credentials: What the session's requests carry.
    ///   - ports: The world.
    ///   - stores: Where things are kept.
    ///   - probeTarget: The host of its requests. Accounts of one provider at one host share probes.
    ///   - allowsLoopback: Whether the service may name addresses on loopback.
    ///   - owner: Told what happens.
    init(
        _ account: AccountID, _ session: any Session, _ credentials: Credentials,
        _ ports: EnginePorts, _ stores: RemoteStores, probeTarget: HostProbes.Target,
        allowsLoopback: Bool, owner: any RemoteServiceOwner
    ) {
        self.account = account
        self.session = session
        self.credentials = credentials
        self.ports = ports
        self.stores = stores
        self.probeTarget = probeTarget
        self.allowsLoopback = allowsLoopback
        self.owner = owner
        guard let remote = session as? any RemoteFeed else { return }
        let feed = CachedFeed(account, remote, stores.feeds, owner: self)
        self.feed = feed
        guard let remote = session as? any RemoteLikes else { return }
        likes = Likes(remote, feed, stores.likes(of: account), owner: self)
    }

    // MARK: How it is doing

    var state: AccountState {
        if let brokenSession {
            return .failed(reason: brokenSession.reason, remedy: brokenSession.remedy)
        }
        switch credentials.trouble {
        case .needsLogin(let reason): return .needsLogin(reason: reason)
        case .locked(let error):
            return .locked(reason: error.message, remedy: error.remedy)
        case nil: break
        }
        switch health.trouble(now: now) {
        case .rateLimited(let until): return .rateLimited(until: until)
        case .offline(let reason): return .offline(reason: reason)
        case .failing(let reason): return .failed(reason: reason, remedy: .retry)
        case nil: break
        }
        return isLoading ? .loading(reason: "The account is being opened.") : .ready
    }

    /// How many photos the user likes: what the service says and what was settled since, else what is known.
    var likeCount = 0

    func start() {
        Task {
            // What goes wrong with them, the state tells.
            try? await likes?.load()
            _ = try? await credentials.load()
            isLoading = false
            owner?.serviceChanged()
            await bringProfile()
            likes?.askAgain()
            scheduleQuestion()
            likes?.send()
        }
    }

    func close() {
        isClosed = true
        retry?.cancel()
        daily?.task.cancel()
        likes?.close()
        session.close()
        // They hold us as long as something of theirs is under way.
        likes = nil
        feed = nil
    }

    /// Has the keyring unlocked, because of something the user did.
    func unlock() async throws { try await credentials.unlock() }

    /// Whether this may be the token that the account has already.
    func mayHold(_ token: OAuthToken) async -> Bool { await credentials.mayHold(token) }

    /// Returns the token of the account.
    ///
    /// - Throws: ``ProviderError/unauthorized`` if there is none; ``SecretStoreError``.
    func storedToken() async throws -> OAuthToken { try await credentials.load() }

    /// Takes over the token of a login that has just stored it.
    func adopt(_ token: OAuthToken) {
        credentials.adopt(token)
        isProfileDue = true
        Task { await goOn() }
    }

    /// Tries again what failed for a reason that may be over: the network is back, the keyring unlocked.
    func tryAgain() {
        guard !isClosed else { return }
        Task { await credentials.saveAgain() }
        let hasLikes = likes?.pending.isEmpty == false || likes?.mayOfferLikesAgain == true
        guard state != .ready || health.wantsRetry || hasLikes else { return }
        if case .rateLimited = health.trouble(now: now) { return }
        Task {
            do {
                try await credentials.load()
            } catch {
                return
            }
            await goOn()
        }
    }

    /// Goes on after the machine has slept, and the pauses with it.
    func resumed() {
        guard retry != nil else { return tryAgain() }
        cancelRetry()
        if case .rateLimited = health.trouble(now: now) { scheduleRetry() }
        owner?.serviceChanged()
        tryAgain()
    }

    /// Does what is left to do, when the service may be asked again.
    private func goOn() async {
        if health.wantsRetry || isProfileDue {
            await probe()
            // Nothing else would go through either; there will be another try.
            guard !health.wantsRetry else { return }
        }
        feed?.tryAgain()
        likes?.askAgain()
        likes?.send()
    }

    /// Asks who the user is, to see whether the service is there and takes the token.
    func probe() async {
        let verdict = await stores.probes.probe(probeTarget) { [weak self] in
            // By the time it is our turn, we may have asked.
            guard let self, health.wantsRetry || isProfileDue else { return .none }
            do { try await owner?.refreshProfile() } catch { return ServiceHealth.Verdict(error) }
            return .fine
        }
        // Another account may have found out.
        if case .unreachable = verdict { note(verdict) }
    }

    /// Nothing may be asked before `until`.
    func limit(until: Timestamp?) {
        health.note(.rateLimited(until: until), now: now)
        scheduleRetry()
        owner?.serviceChanged()
    }

    func note(_ status: SessionStatus) {
        if case .failed(let reason, let remedy) = status {
            brokenSession = (reason, remedy)
        } else {
            brokenSession = nil
        }
    }

    func note(_ limit: RateLimit) {
        rateLimitReceived = now
        guard limit != rateLimit else { return }
        rateLimit = limit
        owner?.serviceChanged()
    }

    /// The permission to spend a request that no client waits for. Less than a quarter of the budget is reserved for
    /// clients.
    var budgetPermission: RefreshPermission {
        guard let limit = rateLimit, Double(limit.remaining) < Double(limit.limit) / 4,
            rateLimitReceived <= now
        else { return .permitted }
        let end = min(
            limit.reset ?? rateLimitReceived + Self.budgetPeriod,
            rateLimitReceived + ServiceHealth.longestRateLimitPause)
        return now < end ? .deniedUntil(end) : .permitted
    }

    func note(_ verdict: ServiceHealth.Verdict) {
        guard verdict != .none else { return }
        let (before, retryBefore) = (health.trouble(now: now), retryAt)
        health.note(verdict, now: now)
        if case .rateLimited(let until) = verdict { owner?.rateLimited(until: until) }
        scheduleRetry()
        let trouble = health.trouble(now: now)
        if trouble != before || retryAt != retryBefore { owner?.serviceChanged() }
        // What was queued goes out with the first answer.
        if before != nil, trouble == nil {
            feed?.tryAgain()
            likes?.send()
        }
    }

    /// Sets out for the next try by itself, if one makes sense.
    private func scheduleRetry() {
        let halts = likes?.halts ?? 0
        let pause: Duration
        // Without a token there is nothing to try: whoever brings it back says so.
        if isClosed || credentials.trouble != nil {
            return cancelRetry()
        } else if case .rateLimited(let until) = health.trouble(now: now) {
            pause = .seconds(max(1, until.secondsSince1970 - now.secondsSince1970))
        } else if health.wantsRetry || halts > 0 {
            // Whoever asks meanwhile does not put it off.
            guard retry == nil else { return }
            pause = health.pause(afterAtLeast: halts, jitter: Double.random(in: 0...1))
        } else {
            return cancelRetry()
        }
        retry?.cancel()
        retryAt = now + pause
        retry = Task { [weak self, clock] in
            do { try await clock.sleep(for: pause) } catch { return }
            await self?.tryByItself()
        }
    }

    /// Sets out for the next time that a service without likes is asked whether it has some.
    private func scheduleQuestion() {
        let due = isClosed ? nil : likes?.nextQuestion
        guard due != daily?.due else { return }
        daily?.task.cancel()
        daily = due.map { due in
            let pause = Duration.seconds(max(1, due.secondsSince1970 - now.secondsSince1970))
            return (
                due,
                Task { [weak self, clock] in
                    do { try await clock.sleep(for: pause) } catch { return }
                    self?.daily = nil
                    self?.likes?.askAgain()
                    self?.scheduleQuestion()
                }
            )
        }
    }

    private func cancelRetry() {
        retry?.cancel()
        retry = nil
        retryAt = nil
    }

    private func tryByItself() async {
        // Not to be cancelled by what it finds out.
        retry = nil
        retryAt = nil
        health.noteTry()
        likes?.noteTry()
        // Whatever the clock on the wall says.
        health.rateLimitEnded()
        owner?.serviceChanged()
        await goOn()
    }

    // MARK: Logging out

    /// Unlocks the token, so that it can be revoked and deleted. May prompt.
    func unlockToForget() async throws { try await credentials.unlockToDiscard() }

    /// Forgets the token without the keyring.
    func abandonToken() async { await credentials.abandon() }

    /// Deletes the token.
    ///
    /// - Throws: ``SecretStoreError`` when it cannot be deleted. Then nothing has changed.
    func discardToken() async throws { try await credentials.discard() }

    /// The error of the calls that a logout ends.
    static let loggedOutError = EngineError.needsLogin("The account was logged out meanwhile.")

    /// Deletes all else that is kept; the service is of no use afterwards.
    func forget() async throws {
        // What still comes in must not be kept after what there is was deleted.
        isForgotten = true
        calls.end(Self.loggedOutError)
        feed?.cancelRequests()
        profileRequests.cancelAll()
        try await likes?.clear()
        await stores.images.forget(account)
        try await feed?.forget()
    }
}

// MARK: - What its parts tell

extension RemoteService: LikesOwner, CredentialsOwner {
    var now: Timestamp { ports.now() }
    var clock: any Clock<Duration> { ports.clock }
    var localLikes: [PendingLike]? { likes?.localWishes }
    var savesData: Bool { owner?.savesData ?? false }

    func ask<Value: Sendable>(
        _ body: @escaping () async throws -> Value
    ) async throws -> Value {
        if case .rateLimited(let until) = health.trouble(now: now) {
            throw ProviderError.rateLimited(until: until)
        }
        do {
            let value: Value
            do {
                value = try await body()
            } catch HTTPError.tooLarge {
                // Nobody asked for that much.
                throw ProviderError.failed("The service answered without an end; try again later.")
            }
            note(.fine)
            return value
        } catch {
            note(ServiceHealth.Verdict(error))
            throw error
        }
    }

    func credentialsChanged() {
        scheduleRetry()
        owner?.serviceChanged()
        if credentials.trouble == nil { likes?.send() }
    }

    func isWatched(_ source: SourceID) -> Bool { owner?.isWatched(source) ?? false }
    func sourceRefreshed(_ source: SourceID) { owner?.sourceRefreshed(source) }
    func feedUpdated(_ source: SourceID, new: Int) { owner?.feedUpdated(source, new: new) }
    func feedGrew() { owner?.feedGrew() }
    func photosChanged(_ photos: [Photo]) { owner?.photosChanged(photos.map(decorate)) }
    func photosRemoved(_ photos: [PhotoID]) { owner?.photosRemoved(photos) }
    func likesPendingChanged() {
        scheduleQuestion()
        owner?.likesChanged()
    }

    func likesObserved(_ photos: [Photo]) {
        for photo in photos {
            // A like that is being sent is announced once, when it is confirmed.
            let isExpected = likes?.isExpected(photo.id, isLiked: photo.isLiked) == true
            likes?.noteObserved(photo.id, isLiked: photo.isLiked)
            guard !isExpected else { continue }
            owner?.likeConfirmed(photo.id, photo.isLiked, likes: photo.likes ?? 0)
        }
        // Where the service does not report the number of likes, it is the number of those that are known.
        Task {
            guard let count = try? await feed?.likeCount(), count != likeCount else { return }
            likeCount = count
            owner?.likesChanged()
        }
    }

    func likesHaltsChanged() {
        let before = retryAt
        scheduleRetry()
        if retryAt != before { owner?.serviceChanged() }
    }

    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int) {
        owner?.likeConfirmed(photo, isLiked, likes: likes)
        countIfDue()
    }

    func likeCountDoubted() {
        isProfileDue = true
        isCountDue = true
        countIfDue()
    }

    /// Fetches the number of likes once nothing is left to be sent that would change it.
    private func countIfDue() {
        guard isCountDue, likes?.pending.isEmpty == true else { return }
        isCountDue = false
        Task { await countAgain() }
    }

    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error) {
        owner?.likeFailed(photo, isWanted, error)
    }
}
