internal import Glibc
internal import LoopbackHTTP
internal import Synchronization

/// A service on loopback that does what Unsplash does, and fails as a test says.
///
/// ```swift
/// let unsplash = try SimulatedUnsplash.start()
/// let ada = unsplash.addUser("ada")
/// unsplash.fail("/photos", .rateLimited, times: 1)
/// // … a client asks unsplash.apiURL …
/// #expect(unsplash.requests("/photos").count == 2)
/// ```
///
/// May be used on any thread. Stopped with the last reference.
package final class SimulatedUnsplash: Sendable {
    /// The key of the one application that is registered.
    package let clientID: String
    package let clientSecret: String
    private let service: Service
    private let servers: Observed<[LoopbackServer]>
    private let origins: Origins

    /// The origin of the API: `http://127.0.0.1:port`, no slash at its end.
    package var apiURL: String { origins.api }
    /// The origin of the website, where users log in.
    package var webURL: String { origins.web }
    /// The origin of the images.
    package var imagesURL: String { origins.images }
    /// The origin of somebody else, for redirects: must never get a token.
    package var strangerURL: String { origins.stranger }

    /// Starts a service of its own, on ports that are free.
    ///
    /// - Parameters:
    ///   - photoCount: How many photos there are.
    ///   - seed: Makes the photos: the same ones for the same seed, but for their dates.
    ///   - apiPort: Where the API listens; 0 for any port.
    ///   - webPort: Where the website listens.
    /// - Returns: The service, which is ready.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package static func start(
        photoCount: Int = 240, seed: UInt64 = 1, apiPort: UInt16 = 0, webPort: UInt16 = 0
    ) throws -> SimulatedUnsplash {
        try SimulatedUnsplash(
            photoCount: photoCount, seed: seed, ports: [.api: apiPort, .web: webPort])
    }

    private init(
        photoCount: Int, seed: UInt64, ports: [RecordedRequest.Host: UInt16]
    ) throws {
        var random = SplitMix(seed: 0xc11e)
        clientID = random.identifier(43)
        clientSecret = random.identifier(43)
        let service = Service(
            ServiceState(
                clientID: clientID, clientSecret: clientSecret, seed: seed, photoCount: photoCount,
                clock: { Moment(time(nil)) }))
        func start(_ host: RecordedRequest.Host) throws -> LoopbackServer {
            try LoopbackServer(port: ports[host] ?? 0) { service.answer($0, on: host) }
        }
        let (api, web, images) = try (start(.api), start(.web), start(.images))
        let (storage, stranger) = try (start(.storage), start(.stranger))
        let origins = Origins(
            api: api.origin, web: web.origin, images: images.origin, storage: storage.origin,
            stranger: stranger.origin)
        service.state.withLock { $0.origins = origins }
        self.service = service
        self.origins = origins
        servers = Observed([api, web, images, storage, stranger])
    }

    deinit { service.holds.value.forEach { $0.release() } }

    /// Makes the service unreachable.
    package func stop() { servers.value.forEach { $0.stop() } }

    /// Lets it be reached again after ``stop()``, at its addresses, with all that it knows.
    ///
    /// - Throws: ``LoopbackHTTP/SystemError`` when somebody else has taken a port.
    package func resume() throws {
        let hosts: [RecordedRequest.Host] = [.api, .web, .images, .storage, .stranger]
        let new = try zip(hosts, servers.value).map { [service] host, server in
            try LoopbackServer(port: server.port) { service.answer($0, on: host) }
        }
        servers.update { $0 = new }
    }

    /// Breaks off the connections there are.
    package func disconnect() { servers.value.forEach { $0.disconnect() } }

    // MARK: What is there

    /// How it behaves. Changed at any time: `unsplash.settings.likes = .absent`.
    package var settings: Settings {
        get { service.state.withLock { $0.settings } }
        set { service.state.withLock { $0.settings = newValue } }
    }

    /// What there is now.
    package var catalogue: Catalogue { service.state.withLock { $0.catalogue } }

    /// The feed as it is now, the newest photo first.
    package var feed: [SimulatedPhoto] { catalogue.photos(catalogue.feed) }

    /// Adds somebody who can log in.
    @discardableResult
    package func addUser(
        _ username: String, _ change: (inout SimulatedUser) -> Void = { _ in }
    ) -> SimulatedUser {
        service.state.withLock { state in
            var user = state.factory.makeUser(username, now: state.now)
            change(&user)
            state.catalogue.users[username] = user
            return user
        }
    }

    /// Puts a new photo on top of the feed: what was on a page moves on by one.
    @discardableResult
    package func publish(_ change: (inout SimulatedPhoto) -> Void = { _ in }) -> SimulatedPhoto {
        service.state.withLock { state in
            var photo = state.factory.makePhoto(created: state.now)
            change(&photo)
            state.catalogue.publish(photo)
            return photo
        }
    }

    /// Changes a photo in its place.
    package func change(_ id: SimulatedPhoto.ID, _ change: (inout SimulatedPhoto) -> Void) {
        service.state.withLock { state in
            guard var photo = state.catalogue.photos[id] else { return }
            change(&photo)
            state.catalogue.photos[id] = photo
        }
    }

    /// Deletes a photo: it leaves the feed, its image is gone; who likes it finds it among the likes.
    package func delete(_ id: SimulatedPhoto.ID) {
        service.state.withLock { $0.catalogue.delete(id) }
    }

    /// The photos that a user likes, the newest like first.
    package func likes(of username: String) -> [SimulatedPhoto.ID] {
        catalogue.users[username]?.likes ?? []
    }

    /// Likes a photo, or does so no more, on the website.
    package func setLike(_ id: SimulatedPhoto.ID, of username: String, _ isLiked: Bool = true) {
        service.state.withLock { $0.setLike(id, of: username, isLiked) }
    }

    /// How often the use of a photo was told, as the guidelines ask for.
    package func downloads(of id: SimulatedPhoto.ID) -> Int {
        service.state.withLock { $0.downloads[id] ?? 0 }
    }

    // MARK: Tokens

    /// Lets a user in without a login.
    ///
    /// - Returns: An access token and its refresh token.
    package func logIn(
        _ username: String, scopes: [String] = ["public", "read_user", "write_likes"]
    ) -> (access: String, refresh: String) {
        service.state.withLock { state in
            let token = state.tokens.makeToken(
                TokenStore.Grant(username: username, scopes: scopes),
                lifetime: state.settings.tokenLifetimeSeconds, now: state.now)
            return (token.access, token.refresh)
        }
    }

    /// What a user does who takes back what an application may do.
    package func revokeTokens(of username: String) {
        service.state.withLock { $0.tokens.revokeAll(of: username) }
    }

    /// Whether an access token is good.
    package func isValid(_ accessToken: String) -> Bool {
        service.state.withLock { $0.tokens.grant(accessToken, now: $0.now) != nil }
    }

    // MARK: Trouble

    /// Lets requests fail: as many as `times` says, or all until ``recover(_:)``.
    ///
    /// Faults that match the same requests come in the order in which they were switched on.
    package func fail(_ pattern: RequestPattern, _ fault: Fault, times: Int? = nil) {
        service.state.withLock { $0.faults.add(fault, pattern, times: times) }
    }

    /// Switches off the faults of a pattern.
    package func recover(_ pattern: RequestPattern) {
        service.state.withLock { $0.faults.remove(pattern) }
    }

    /// Keeps requests at the door, before anything is done, until they are released.
    package func hold(_ pattern: RequestPattern) -> Hold {
        let hold = Hold(pattern)
        service.holds.append(hold)
        return hold
    }

    /// Leaves the application so many requests of this hour.
    package func leaveRequests(_ count: Int) {
        service.state.withLock { $0.budget.leave(count, of: $0.settings.requestsPerHour) }
    }

    /// Puts the clock of the service ahead: codes and tokens expire, an hour passes.
    package func advanceClock(seconds: Int) {
        service.state.withLock { $0.secondsAhead += seconds }
    }

    // MARK: What was asked

    /// The requests so far that match, on all hosts, in their order.
    package func requests(_ pattern: RequestPattern = "*") -> [RecordedRequest] {
        service.requests.value.filter(pattern.matches)
    }

    /// The requests to one host.
    package func requests(on host: RecordedRequest.Host) -> [RecordedRequest] {
        service.requests.value.filter { $0.host == host }
    }

    /// Waits until so many requests match: they have come, but may not be answered yet.
    @discardableResult
    package func waitForRequests(
        _ pattern: RequestPattern, count: Int = 1
    ) async throws -> [RecordedRequest] {
        try await service.requests.wait { requests in
            let found = requests.filter(pattern.matches)
            return found.count >= count ? found : nil
        }
    }

    /// Waits until so many requests like the pattern have been answered, and returns these.
    @discardableResult
    package func waitForAnswers(
        _ pattern: RequestPattern, count: Int = 1
    ) async throws -> [RecordedRequest] {
        try await service.requests.wait { requests in
            let found = requests.filter { $0.status != 0 && pattern.matches($0) }
            return found.count >= count ? found : nil
        }
    }
}

/// What the threads of the servers share.
private final class Service: Sendable {
    let state: Mutex<ServiceState>
    let requests = Observed<[RecordedRequest]>()
    let holds = Observed<[Hold]>()

    init(_ state: ServiceState) { self.state = Mutex(state) }

    func answer(_ request: LoopbackRequest, on host: RecordedRequest.Host) -> LoopbackResponse {
        let recorded = record(request, on: host)
        holds.value.filter { $0.pattern.matches(recorded) }.forEach { $0.wait() }
        let (reply, username) = state.withLock { state in
            // Afterwards the token may be another's, or nobody's.
            let username = state.username(recorded)
            return (state.answer(recorded), username)
        }
        requests.update { requests in
            requests[recorded.number].status = reply.status
            requests[recorded.number].username = username
        }
        return reply.response
    }

    private func record(
        _ request: LoopbackRequest, on host: RecordedRequest.Host
    ) -> RecordedRequest {
        var recorded: RecordedRequest?
        requests.update { requests in
            let new = RecordedRequest(
                number: requests.count, host: host, method: request.method,
                target: request.target,
                headers: request.headers.map { ($0.name, $0.value) }, body: request.body)
            requests.append(new)
            recorded = new
        }
        guard let recorded else { preconditionFailure("the change was not run") }
        return recorded
    }
}
