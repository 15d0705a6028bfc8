package import ServiceSimulator

/// A simulated Mastodon or Pixelfed server on loopback, with faults on demand.
///
/// ```swift
/// let server = try SimulatedMastodon.start("photos.test")
/// server.addUser("ada")
/// server.fail("/api/v1/timelines/home", .reset, times: 1)
/// // … a client sends requests to server.url …
/// #expect(server.requests("POST /api/v1/apps").count == 1)
/// ```
///
/// Every user follows all other users: the home feed has all statuses.
package final class SimulatedMastodon: SimulatedService {
    /// The name of the server.
    package let name: String
    package let simulator: SimulatorServer<ServerState>

    /// The address of the server: `http://127.0.0.1:port`, without a trailing slash.
    package var url: String { simulator.origin(.server) }

    /// The address of the images: `http://127.0.0.1:port`, without a trailing slash.
    package var mediaURL: String { simulator.origin(.media) }

    /// Starts a server on free ports.
    ///
    /// - Parameters:
    ///   - name: The name of the server; it is not resolved.
    ///   - software: The server software.
    ///   - statusCount: The number of statuses.
    ///   - seed: The seed of the statuses, which are the same for the same seed except for their dates.
    /// - Returns: The running server.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package static func start(
        _ name: String = "photos.test", _ software: Software = .mastodon, statusCount: Int = 80,
        seed: UInt64 = 1
    ) throws -> SimulatedMastodon {
        try SimulatedMastodon(name, software, statusCount: statusCount, seed: seed)
    }

    private init(_ name: String, _ software: Software, statusCount: Int, seed: UInt64) throws {
        self.name = name
        simulator = try SimulatorServer(
            ServerState(name, software, statusCount: statusCount, seed: seed),
            [(.server, 0), (.media, 0), (.handles, 0), (.unrelated, 0)])
        let (server, media) = (simulator.origin(.server), simulator.origin(.media))
        simulator.withState { state in
            state.origin = server
            state.mediaOrigin = media
        }
    }

    /// The address of an unrelated origin, for redirects; it must never receive a token.
    package var unrelatedURL: String { simulator.origin(.unrelated) }

    /// The address of the domain of the users' handles: see ``Settings/handles``.
    package var handleURL: String { simulator.origin(.handles) }

    /// The behaviour, which may change at any time.
    package var settings: Settings {
        get { simulator.withState { $0.settings } }
        set { simulator.withState { $0.settings = newValue } }
    }

    // MARK: Contents

    /// The statuses, the newest first.
    package var statuses: [SimulatedStatus] { simulator.withState { $0.statuses } }

    /// Returns the IDs of the photos that a client should show in the home feed.
    package func photos() -> [String] { simulator.withState { $0.photos() } }

    /// Adds a user that can log in.
    package func addUser(
        _ username: String, _ change: (inout SimulatedUser) -> Void = { _ in }
    ) {
        simulator.withState { state in
            var user = SimulatedUser(
                id: state.nextID(), username: username,
                displayName: username.prefix(1).uppercased() + username.dropFirst())
            change(&user)
            state.users[username] = user
        }
    }

    /// Changes the user name of a user, as an administrator can. The ID, the statuses and the tokens do not change.
    package func renameUser(_ username: String, to newName: String) {
        simulator.withState { state in
            guard var user = state.users.removeValue(forKey: username) else { return }
            user.username = newName
            state.users[newName] = user
            state.tokens.rename(username, to: newName)
            for index in state.statuses.indices where state.statuses[index].author == username {
                state.statuses[index].author = newName
            }
        }
    }

    /// Creates an access token for a user.
    package func makeToken(for username: String) -> String {
        simulator.withState { state in
            let grant = TokenStore.Grant(username: username, scopes: ["read", "write"])
            return state.tokens.makeToken(grant, lifetime: nil, now: state.now).access
        }
    }

    /// Adds a new status at the top of the feeds.
    @discardableResult
    package func publish(
        _ change: (inout SimulatedStatus) -> Void = { _ in }
    ) -> SimulatedStatus {
        simulator.withState { state in
            var status = state.makeStatus(imageCount: 1)
            change(&status)
            state.statuses.insert(status, at: 0)
            return status
        }
    }

    /// Boosts a status: adds a separate status at the top of the feeds.
    @discardableResult
    package func boost(_ id: SimulatedStatus.ID) -> SimulatedStatus {
        publish { status in
            status.attachments = []
            status.content = ""
            status.boosts = id
        }
    }

    /// Adds a status that arrives late from another server: its ID and its position in lists correspond to the time at
    /// which it was written.
    ///
    /// - Parameter index: The number of statuses above it; there must be one below.
    /// - Returns: The status.
    @discardableResult
    package func arriveLate(below index: Int) -> SimulatedStatus {
        simulator.withState { state in
            let status = state.makeLateStatus(below: index)
            state.statuses.insert(status, at: index)
            return status
        }
    }

    /// Changes a status.
    package func change(
        _ id: SimulatedStatus.ID, _ change: (inout SimulatedStatus) -> Void
    ) {
        simulator.withState { state in
            guard let index = state.statuses.firstIndex(where: { $0.id == id }) else { return }
            change(&state.statuses[index])
        }
    }

    /// Deletes a status with its boosts and images.
    package func delete(_ id: SimulatedStatus.ID) {
        simulator.withState { $0.statuses.removeAll { $0.id == id || $0.boosts == id } }
    }

    /// The statuses that a user likes, the newest like first.
    package func likes(of username: String) -> [SimulatedStatus.ID] {
        simulator.withState { $0.users[username]?.likes.map { $0.status } ?? [] }
    }

    /// Completes the delayed unfavourites: see ``Settings/delaysUnfavourites``.
    package func completeUnfavourites() { simulator.withState { $0.completeUnfavourites() } }

    // MARK: Applications and tokens

    /// The number of client registrations so far.
    package var registrations: Int { simulator.withState { $0.registrations } }

    /// Deletes the registered applications, as servers do with unused ones.
    package func forgetApplications() { simulator.withState { $0.applications = [:] } }

    /// The secrets of the registered applications.
    package var clientSecrets: [String] {
        simulator.withState { $0.applications.values.map(\.secret) }
    }

    /// Sets the remaining requests of every token in the current window.
    package func leaveRequests(_ count: Int) {
        simulator.withState { $0.leaveRequests(count) }
    }

}

extension RecordedRequest.Host {
    /// The pages and the API.
    package static let server = Self(rawValue: "server")
    /// The images.
    package static let media = Self(rawValue: "media")
    /// The domain of the users' handles, which differs from that of the server.
    package static let handles = Self(rawValue: "handles")
}

/// The behaviour of a simulated server.
package struct Settings: Sendable {
    /// The number of requests that a token has in five minutes.
    package var requestsPerWindow = 300
    /// The lifetime of access tokens; nil if they do not expire.
    package var tokenLifetimeSeconds: Int?
    /// True if another login of a user returns the existing token.
    package var reusesTokens = true
    /// True if an unfavourite takes effect after its response, as at Mastodon: only
    /// ``SimulatedMastodon/completeUnfavourites()`` completes it.
    package var delaysUnfavourites = false
    /// True if the server is still preparing the home feed: status 206 and an empty page.
    package var isPreparingHome = false
    /// True if Pixelfed caches the home feed: each empty page has the status 206.
    ///
    /// Source: pixelfed 0.11.13, `ApiV1Controller::timelineHome`.
    package var hasCachedHome = false
    /// The users that no other user follows.
    package var unfollowed: Set<String> = []
    /// The maximum number of statuses of a page.
    package var pageLimit = 40
    /// True if no response has a `Link` field.
    package var omitsLinks = false
    /// The number of requests for images that are accepted until the next hour; nil for no limit.
    ///
    /// Source: mastodon 4.6.4, `config/initializers/rack_attack.rb`.
    package var imagesPerHour: Int?
    /// True if error texts are in Japanese.
    package var isJapanese = false
    /// The version that the instance document states, if it differs from that of the software.
    package var version: String?
    /// The documents with which the domain of the users' handles names the server.
    package var handles = HandleDomain.none
    /// The domain of the users' handles.
    package var handleDomain = "handles.test"
}

/// The ways in which a domain refers to the server of its handles.
package enum HandleDomain: CaseIterable, Sendable {
    case none
    /// A WebFinger document for each user.
    case webFinger
    /// A redirect of WebFinger to the server.
    case webFingerRedirect
    /// The host-meta document.
    case hostMeta
    /// A redirect of host-meta to the server.
    case hostMetaRedirect
    /// A redirect to the same address.
    case loop
    /// A WebFinger document that names an address on the local network.
    case localNetwork
}
