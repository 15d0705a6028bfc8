package import ServiceSimulator

/// All that the service knows, and its answer to each request.
///
/// A value: the simulator keeps it behind a lock.
package struct ServiceState: SimulatedState {
    /// The secrets of the registered applications, by client ID.
    var applications: [String: String]
    var origins = Origins()
    var settings = Settings() {
        didSet { if !settings.answersAreCached { cache = AnswerCache() } }
    }
    var catalogue: Catalogue
    var factory: PhotoFactory
    var tokens = TokenStore()
    package var faults = FaultPlan()
    var budget: RateBudget
    /// How far the clock of the service is ahead of that of the machine.
    var secondsAhead = 0
    /// What the clock of the machine is taken to show; nil while it runs.
    var stopped: Moment?
    /// How often the use of each photo was told.
    var downloads: [SimulatedPhoto.ID: Int] = [:]
    private var cache = AnswerCache()
    private let clock: @Sendable () -> Moment

    var now: Moment { (stopped ?? clock()) + secondsAhead }

    init(
        clientID: String, clientSecret: String, seed: UInt64, photoCount: Int,
        clock: @escaping @Sendable () -> Moment
    ) {
        applications = [clientID: clientSecret]
        self.clock = clock
        factory = PhotoFactory(seed: seed)
        catalogue = factory.makeCatalogue(photoCount: photoCount, now: clock())
        budget = RateBudget(start: clock())
    }

    package mutating func answer(_ request: RecordedRequest, _ fault: Fault?) -> Reply {
        var reply: Reply
        if let other = fault?.insteadOfAnswer {
            reply = request.host == .api ? completed(other, request) : other
        } else {
            switch request.host {
            case .api: reply = answerCached(request)
            case .web: reply = answerWeb(request)
            case .images: reply = answerImage(request)
            default: reply = answerElsewhere(request)
            }
        }
        fault?.change(&reply)
        return reply
    }

    private mutating func answerCached(_ request: RecordedRequest) -> Reply {
        guard settings.answersAreCached else { return answerCounted(request) }
        if let reply = cache.answer(request, now: now) { return reply }
        let reply = answerCounted(request)
        cache.store(reply, for: request, now: now)
        return reply
    }

    private mutating func answerCounted(_ request: RecordedRequest) -> Reply {
        guard budget.take(of: settings.requestsPerHour, now: now) else {
            return completed(.rateLimited(), request)
        }
        return completed(answerAPI(request), request)
    }

    private func completed(_ reply: Reply, _ request: RecordedRequest) -> Reply {
        ResponseHeaders(
            limit: settings.requestsPerHour,
            remaining: budget.remaining(of: settings.requestsPerHour),
            requestNumber: request.number, now: now
        ).complete(reply)
    }

    func writer(for viewer: String?) -> DocumentWriter {
        DocumentWriter(
            catalogue: catalogue, origins: origins, viewer: viewer, likes: settings.likes, now: now)
    }
}
