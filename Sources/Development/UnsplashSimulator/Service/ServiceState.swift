package import ServiceSimulator

/// The state of the simulated Unsplash.
///
/// A value type: ``SimulatorServer`` protects it with a lock.
package struct ServiceState: SimulatedOAuthState {
    /// The secrets of the registered applications, by client ID.
    var applications: [String: String]
    var origins = Origins()
    var settings = Settings() {
        didSet { if !settings.cachesReplies { cache = ReplyCache() } }
    }
    var catalogue: Catalogue
    var factory: PhotoFactory
    package var tokens = TokenStore()
    package var faults = FaultPlan()
    var budget: RateBudget
    /// The seconds by which the clock of the service is ahead of the system clock.
    package var secondsAhead = 0
    /// The number of counted downloads of each photo.
    var downloads: [SimulatedPhoto.ID: Int] = [:]
    private var cache = ReplyCache()
    private let clock: @Sendable () -> Moment

    package var now: Moment { clock() + secondsAhead }

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

    package mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        var reply: Reply
        if let other = fault?.replacement {
            reply = request.host == .api ? completed(other, request) : other
        } else {
            switch request.host {
            case .api: reply = cachedReply(request)
            case .web: reply = webReply(request)
            case .images: reply = imageReply(request)
            default: reply = otherReply(request)
            }
        }
        fault?.change(&reply)
        return reply
    }

    private mutating func cachedReply(_ request: RecordedRequest) -> Reply {
        guard settings.cachesReplies else { return countedReply(request) }
        if let reply = cache.reply(to: request, now: now) { return reply }
        let reply = countedReply(request)
        cache.store(reply, for: request, now: now)
        return reply
    }

    private mutating func countedReply(_ request: RecordedRequest) -> Reply {
        guard budget.take(of: settings.requestsPerHour, now: now) else {
            return completed(.rateLimited(), request)
        }
        return completed(apiReply(request), request)
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
