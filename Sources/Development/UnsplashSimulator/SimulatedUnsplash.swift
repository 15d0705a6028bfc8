internal import Glibc
package import ServiceSimulator

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
package final class SimulatedUnsplash: SimulatedService {
    /// The client ID of the application that is registered from the start.
    package let clientID: String
    package let clientSecret: String
    package let desk: SimulatorServer<ServiceState>
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
        let hosts: [RecordedRequest.Host] = [.api, .web, .images, .storage, .stranger]
        let desk = try SimulatorServer(
            ServiceState(
                clientID: clientID, clientSecret: clientSecret, seed: seed, photoCount: photoCount,
                clock: { Moment(time(nil)) }), hosts.map { ($0, ports[$0] ?? 0) })
        let origins = Origins(
            api: desk.origin(.api), web: desk.origin(.web), images: desk.origin(.images),
            storage: desk.origin(.storage), stranger: desk.origin(.stranger))
        desk.withState { $0.origins = origins }
        self.desk = desk
        self.origins = origins
    }

    // MARK: What is there

    /// How it behaves. Changed at any time: `unsplash.settings.likes = .absent`.
    package var settings: Settings {
        get { desk.withState { $0.settings } }
        set { desk.withState { $0.settings = newValue } }
    }

    /// What there is now.
    package var catalogue: Catalogue { desk.withState { $0.catalogue } }

    /// The feed as it is now, the newest photo first.
    package var feed: [SimulatedPhoto] { catalogue.photos(catalogue.feed) }

    /// Adds somebody who can log in.
    @discardableResult
    package func addUser(
        _ username: String, _ change: (inout SimulatedUser) -> Void = { _ in }
    ) -> SimulatedUser {
        desk.withState { state in
            var user = state.factory.makeUser(username, now: state.now)
            change(&user)
            state.catalogue.users[username] = user
            return user
        }
    }

    /// Gives a user another user name, as users do on the website. The ID, the photos and the tokens stay.
    package func renameUser(_ username: String, to newName: String) {
        desk.withState { state in
            guard var user = state.catalogue.users.removeValue(forKey: username) else { return }
            user.username = newName
            state.catalogue.users[newName] = user
            state.tokens.rename(username, to: newName)
            for id in state.catalogue.photos.keys
            where state.catalogue.photos[id]?.owner == username {
                state.catalogue.photos[id]?.owner = newName
            }
        }
    }

    /// Puts a new photo on top of the feed: what was on a page moves on by one.
    @discardableResult
    package func publish(_ change: (inout SimulatedPhoto) -> Void = { _ in })
        -> SimulatedPhoto
    {
        desk.withState { state in
            var photo = state.factory.makePhoto(created: state.now)
            change(&photo)
            state.catalogue.publish(photo)
            return photo
        }
    }

    /// Changes a photo in its place.
    package func change(_ id: SimulatedPhoto.ID, _ change: (inout SimulatedPhoto) -> Void) {
        desk.withState { state in
            guard var photo = state.catalogue.photos[id] else { return }
            change(&photo)
            state.catalogue.photos[id] = photo
        }
    }

    /// Deletes a photo: it leaves the feed, its image is gone; who likes it finds it among the likes.
    package func delete(_ id: SimulatedPhoto.ID) {
        desk.withState { $0.catalogue.delete(id) }
    }

    /// The photos that a user likes, the newest like first.
    package func likes(of username: String) -> [SimulatedPhoto.ID] {
        catalogue.users[username]?.likes ?? []
    }

    /// Likes a photo, or does so no more, on the website.
    package func setLike(_ id: SimulatedPhoto.ID, of username: String, _ isLiked: Bool = true) {
        desk.withState { $0.setLike(id, of: username, isLiked) }
    }

    /// How often the use of a photo was told, as the guidelines ask for.
    package func downloads(of id: SimulatedPhoto.ID) -> Int {
        desk.withState { $0.downloads[id] ?? 0 }
    }

    // MARK: Applications and tokens

    /// Registers another application, or gives the known one another secret.
    ///
    /// - Parameters:
    ///   - clientID: The client ID.
    ///   - secret: The client secret.
    package func registerApplication(_ clientID: String, secret: String) {
        desk.withState { $0.applications[clientID] = secret }
    }

    /// The access tokens that were neither revoked nor replaced by a renewal.
    package var liveTokens: [String] { desk.withState { $0.tokens.live.map(\.access) } }

    /// Lets a user in without a login.
    ///
    /// - Returns: An access token and its refresh token.
    package func logIn(
        _ username: String, scopes: [String] = ["public", "read_user", "write_likes"]
    ) -> (access: String, refresh: String) {
        desk.withState { state in
            var grant = TokenStore.Grant(username: username, scopes: scopes)
            grant.client = clientID
            let token = state.tokens.makeToken(
                grant, lifetime: state.settings.tokenLifetimeSeconds, now: state.now)
            return (token.access, token.refresh)
        }
    }

    /// What a user does who takes back what an application may do.
    package func revokeTokens(of username: String) {
        desk.withState { $0.tokens.revokeAll(of: username) }
    }

    /// Whether an access token is good.
    package func isValid(_ accessToken: String) -> Bool {
        desk.withState { $0.tokens.grant(accessToken, now: $0.now) != nil }
    }

    // MARK: Trouble

    /// Leaves the application so many requests of this hour.
    package func leaveRequests(_ count: Int) {
        desk.withState { $0.budget.leave(count, of: $0.settings.requestsPerHour) }
    }

    /// Puts the clock of the service ahead: codes and tokens expire, an hour passes.
    package func advanceClock(seconds: Int) {
        desk.withState { $0.secondsAhead += seconds }
    }

    /// Stops the clock of the service: equal questions have equal answers, which tell the time in `ixid`.
    package func stopClock() {
        desk.withState { $0.stopped = $0.now + -$0.secondsAhead }
    }
}

extension RecordedRequest.Host {
    /// `api.unsplash.com`.
    package static let api = Self(rawValue: "api")
    /// `unsplash.com`, where users log in.
    package static let web = Self(rawValue: "web")
    /// `images.unsplash.com`.
    package static let images = Self(rawValue: "images")
    /// The storage behind the images, where `urls.small_s3` leads: asked by nobody who counts views.
    package static let storage = Self(rawValue: "storage")
}
