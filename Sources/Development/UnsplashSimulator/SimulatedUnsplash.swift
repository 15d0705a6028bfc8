internal import Glibc
package import ServiceSimulator

/// A simulated Unsplash on loopback, with faults on demand.
///
/// ```swift
/// let unsplash = try SimulatedUnsplash.start()
/// let ada = unsplash.addUser("ada")
/// unsplash.fail("/photos", .rateLimited, times: 1)
/// // … a client sends requests to unsplash.apiURL …
/// #expect(unsplash.requests("/photos").count == 2)
/// ```
///
/// Can be used on any thread. The service stops when its last reference is released.
package final class SimulatedUnsplash: SimulatedService {
    /// The client ID of the initially registered application.
    package let clientID: String
    package let clientSecret: String
    package let simulator: SimulatorServer<ServiceState>
    private let origins: Origins

    /// The origin of the API: `http://127.0.0.1:port`, without a trailing slash.
    package var apiURL: String { origins.api }
    /// The origin of the website with the login pages.
    package var webURL: String { origins.web }
    /// The origin of the images.
    package var imagesURL: String { origins.images }
    /// The address of an unrelated origin, for redirects; it must never receive a token.
    package var unrelatedURL: String { origins.unrelated }

    /// Starts a service on free ports.
    ///
    /// - Parameters:
    ///   - photoCount: The number of photos.
    ///   - seed: The seed of the photos, which are the same for the same seed except for their dates.
    ///   - apiPort: The port of the API; 0 for any free port.
    ///   - webPort: The port of the website; 0 for any free port.
    /// - Returns: The running service.
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
        var random = SeededRandom(seed: 0xc11e)
        clientID = random.identifier(43)
        clientSecret = random.identifier(43)
        let hosts: [RecordedRequest.Host] = [.api, .web, .images, .storage, .unrelated]
        let simulator = try SimulatorServer(
            ServiceState(
                clientID: clientID, clientSecret: clientSecret, seed: seed, photoCount: photoCount,
                clock: { Moment(time(nil)) }), hosts.map { ($0, ports[$0] ?? 0) })
        let origins = Origins(
            api: simulator.origin(.api), web: simulator.origin(.web),
            images: simulator.origin(.images),
            storage: simulator.origin(.storage), unrelated: simulator.origin(.unrelated))
        simulator.withState { $0.origins = origins }
        self.simulator = simulator
        self.origins = origins
    }

    // MARK: Contents

    /// The behaviour, which may change at any time: `unsplash.settings.likes = .absent`.
    package var settings: Settings {
        get { simulator.withState { $0.settings } }
        set { simulator.withState { $0.settings = newValue } }
    }

    /// The current contents.
    package var catalogue: Catalogue { simulator.withState { $0.catalogue } }

    /// The current feed, newest photo first.
    package var feed: [SimulatedPhoto] { catalogue.photos(catalogue.feed) }

    /// Adds a user that can log in.
    @discardableResult
    package func addUser(
        _ username: String, _ change: (inout SimulatedUser) -> Void = { _ in }
    ) -> SimulatedUser {
        simulator.withState { state in
            var user = state.factory.makeUser(username, now: state.now)
            change(&user)
            state.catalogue.users[username] = user
            return user
        }
    }

    /// Changes the user name of a user, as on the website. The ID, the photos and the tokens do not change.
    package func renameUser(_ username: String, to newName: String) {
        simulator.withState { state in
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

    /// Adds a new photo at the top of the feed, which shifts all other photos by one.
    @discardableResult
    package func publish(_ change: (inout SimulatedPhoto) -> Void = { _ in })
        -> SimulatedPhoto
    {
        simulator.withState { state in
            var photo = state.factory.makePhoto(created: state.now)
            change(&photo)
            state.catalogue.publish(photo)
            return photo
        }
    }

    /// Changes a photo.
    package func change(_ id: SimulatedPhoto.ID, _ change: (inout SimulatedPhoto) -> Void) {
        simulator.withState { state in
            guard var photo = state.catalogue.photos[id] else { return }
            change(&photo)
            state.catalogue.photos[id] = photo
        }
    }

    /// Deletes a photo from the feed and the image server. Lists of likes still contain the photo.
    package func delete(_ id: SimulatedPhoto.ID) {
        simulator.withState { $0.catalogue.delete(id) }
    }

    /// The photos that a user likes, the newest like first.
    package func likes(of username: String) -> [SimulatedPhoto.ID] {
        catalogue.users[username]?.likes ?? []
    }

    /// Returns the number of counted downloads of a photo, which the guidelines require.
    package func downloads(of id: SimulatedPhoto.ID) -> Int {
        simulator.withState { $0.downloads[id] ?? 0 }
    }

    // MARK: Applications and tokens

    /// Issues a token for a user without a login.
    ///
    /// - Returns: An access token and its refresh token.
    package func logIn(
        _ username: String, scopes: [String] = ["public", "read_user", "write_likes"]
    ) -> (access: String, refresh: String) {
        simulator.withState { state in
            var grant = TokenStore.Grant(username: username, scopes: scopes)
            grant.client = clientID
            let token = state.tokens.makeToken(
                grant, lifetime: state.settings.tokenLifetimeSeconds, now: state.now)
            return (token.access, token.refresh)
        }
    }

    // MARK: Limits

    /// Sets the remaining requests of the application in the current hour.
    package func leaveRequests(_ count: Int) {
        simulator.withState { $0.budget.leave(count, of: $0.settings.requestsPerHour) }
    }
}

extension RecordedRequest.Host {
    /// `api.unsplash.com`.
    package static let api = Self(rawValue: "api")
    /// `unsplash.com`, where users log in.
    package static let web = Self(rawValue: "web")
    /// `images.unsplash.com`.
    package static let images = Self(rawValue: "images")
    /// The storage of the images, to which `urls.small_s3` refers; requests to it are not counted as views.
    package static let storage = Self(rawValue: "storage")
}
