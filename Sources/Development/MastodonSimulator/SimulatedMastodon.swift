package import ServiceSimulator

/// A server on loopback that does what Mastodon does, or Pixelfed, and fails as a test says.
///
/// ```swift
/// let server = try SimulatedMastodon.start("photos.test")
/// server.addUser("ada")
/// server.fail("/api/v1/timelines/home", .reset, times: 1)
/// // … a client asks server.url …
/// #expect(server.requests("POST /api/v1/apps").count == 1)
/// ```
///
/// Everybody who logs in follows everybody else: the home feed has all there is.
package final class SimulatedMastodon: SimulatedService {
    /// What people call the server.
    package let name: String
    package let desk: SimulatorServer<ServerState>

    /// Where the server is: `http://127.0.0.1:port`, no slash at its end.
    package var url: String { desk.origin(.server) }

    /// Where pictures are, likewise.
    package var mediaURL: String { desk.origin(.media) }

    /// Starts a server, on ports that are free.
    ///
    /// - Parameters:
    ///   - name: What people call it; nothing is resolved by it.
    ///   - software: What it runs.
    ///   - statusCount: How many statuses there are.
    ///   - seed: Makes them: the same ones for the same seed, but for their dates.
    /// - Returns: The server, which is ready.
    /// - Throws: ``LoopbackHTTP/SystemError``.
    package static func start(
        _ name: String = "photos.test", _ software: Software = .mastodon, statusCount: Int = 80,
        seed: UInt64 = 1
    ) throws -> SimulatedMastodon {
        try SimulatedMastodon(name, software, statusCount: statusCount, seed: seed)
    }

    private init(_ name: String, _ software: Software, statusCount: Int, seed: UInt64) throws {
        self.name = name
        desk = try SimulatorServer(
            ServerState(name, software, statusCount: statusCount, seed: seed),
            [(.server, 0), (.media, 0), (.handles, 0), (.stranger, 0)])
        let (server, media) = (desk.origin(.server), desk.origin(.media))
        desk.withState { state in
            state.origin = server
            state.mediaOrigin = media
        }
    }

    /// The origin of somebody else, for redirects: must never get a token.
    package var strangerURL: String { desk.origin(.stranger) }

    /// The address of the domain of the users' handles: see ``Settings/handles``.
    package var handleURL: String { desk.origin(.handles) }

    /// How it behaves. Changed at any time.
    package var settings: Settings {
        get { desk.withState { $0.settings } }
        set { desk.withState { $0.settings = newValue } }
    }

    // MARK: What is there

    /// The statuses, the newest first.
    package var statuses: [SimulatedStatus] { desk.withState { $0.statuses } }

    /// The ids of the photos that a client is to show in the home feed, by the words of the statuses.
    package func photos(showingSensitive: Bool = false) -> [String] {
        desk.withState { $0.photos(showingSensitive: showingSensitive) }
    }

    /// Adds somebody who can log in.
    package func addUser(
        _ username: String, _ change: (inout SimulatedPerson) -> Void = { _ in }
    ) {
        desk.withState { state in
            var person = SimulatedPerson(
                id: state.nextID(), username: username,
                displayName: username.prefix(1).uppercased() + username.dropFirst())
            change(&person)
            state.people[username] = person
        }
    }

    /// Gives a user another user name, as an administrator can. The ID, the statuses and the tokens stay.
    package func renameUser(_ username: String, to newName: String) {
        desk.withState { state in
            guard var person = state.people.removeValue(forKey: username) else { return }
            person.username = newName
            state.people[newName] = person
            state.tokens.rename(username, to: newName)
            for index in state.statuses.indices where state.statuses[index].author == username {
                state.statuses[index].author = newName
            }
        }
    }

    /// Puts a new status on top of everything.
    @discardableResult
    package func publish(
        _ change: (inout SimulatedStatus) -> Void = { _ in }
    ) -> SimulatedStatus {
        desk.withState { state in
            var status = state.makeStatus(pictures: 1)
            change(&status)
            state.statuses.insert(status, at: 0)
            return status
        }
    }

    /// Passes a status on: a status of its own, on top of everything.
    @discardableResult
    package func boost(_ id: SimulatedStatus.ID) -> SimulatedStatus {
        publish { status in
            status.attachments = []
            status.content = ""
            status.boosts = id
        }
    }

    /// Adds a status that arrives late from another server: its id, and its place in lists, are those of the time when it
    /// was written.
    ///
    /// - Parameter index: The number of statuses above it; there must be one below.
    /// - Returns: The status.
    @discardableResult
    package func arriveLate(below index: Int) -> SimulatedStatus {
        desk.withState { state in
            let status = state.makeLateStatus(below: index)
            state.statuses.insert(status, at: index)
            return status
        }
    }

    /// Changes a status in its place.
    package func change(
        _ id: SimulatedStatus.ID, _ change: (inout SimulatedStatus) -> Void
    ) {
        desk.withState { state in
            guard let index = state.statuses.firstIndex(where: { $0.id == id }) else { return }
            change(&state.statuses[index])
        }
    }

    /// Deletes a status, with its boosts and pictures.
    package func delete(_ id: SimulatedStatus.ID) {
        desk.withState { $0.statuses.removeAll { $0.id == id || $0.boosts == id } }
    }

    /// The statuses that a user likes, the newest like first.
    package func likes(of username: String) -> [SimulatedStatus.ID] {
        desk.withState { $0.people[username]?.likes.map { $0.status } ?? [] }
    }

    /// Likes a status, or does so no more, in the browser.
    package func setLike(_ id: SimulatedStatus.ID, of username: String, _ isLiked: Bool = true) {
        desk.withState { $0.setLike(id, of: username, isLiked) }
    }

    /// Does what was put off: see ``Settings/putsUnfavouritesOff``.
    package func catchUp() { desk.withState { $0.catchUp() } }

    // MARK: Applications and tokens

    /// How many applications have made themselves known so far.
    package var registrations: Int { desk.withState { $0.registrations } }

    /// Forgets the applications, as servers did with those that nobody used.
    package func forgetApplications() { desk.withState { $0.applications = [:] } }

    /// The number of applications that the server knows.
    package var applicationCount: Int { desk.withState { $0.applications.count } }

    /// The access tokens that were neither revoked nor replaced by a renewal.
    package var liveTokens: [String] { desk.withState { $0.tokens.live.map(\.access) } }

    /// The secrets of the applications that it knows.
    package var clientSecrets: [String] {
        desk.withState { $0.applications.values.map(\.secret) }
    }

    /// What a user does who takes back what an application may do.
    package func revokeTokens(of username: String) {
        desk.withState { $0.tokens.revokeAll(of: username) }
    }

    /// Whether an access token is good.
    package func isValid(_ accessToken: String) -> Bool {
        desk.withState { $0.tokens.grant(accessToken, now: $0.now) != nil }
    }

    /// Leaves everybody so many requests of these five minutes.
    package func leaveRequests(_ count: Int) {
        desk.withState { state in
            state.used = Dictionary(
                uniqueKeysWithValues: state.tokens.tokens.map {
                    ($0.access, state.settings.requestsPerWindow - count)
                })
        }
    }

    /// Puts the clock of the server ahead: codes and tokens expire, limits end.
    package func advanceClock(seconds: Int) { desk.withState { $0.secondsAhead += seconds } }
}

extension RecordedRequest.Host {
    /// Pages and API.
    package static let server = Self(rawValue: "server")
    /// Where pictures are.
    package static let media = Self(rawValue: "media")
    /// The domain of the users' handles, which is not that of the server.
    package static let handles = Self(rawValue: "handles")
}

/// How a simulated server behaves, as far as a test may choose.
package struct Settings: Sendable {
    /// Requests in five minutes, of each token.
    package var requestsPerWindow = 300
    /// After how long access tokens expire; nil is never.
    package var tokenLifetimeSeconds: Int?
    /// Whether who logs in again gets the token that is there.
    package var reusesTokens = true
    /// Whether unfavourites are answered before they are done, as Mastodon does: only ``SimulatedMastodon/catchUp()``
    /// does them.
    package var putsUnfavouritesOff = false
    /// Whether the home feed is still put together: 206, and no more.
    package var isBuildingHome = false
    /// Whether errors are in Japanese.
    package var isJapanese = false
    /// Which version another software says it is.
    package var version: String?
    /// The documents with which the domain of the users' handles names the server.
    package var handles = HandleDomain.none
    /// The domain of the users' handles.
    package var handleDomain = "handles.test"
}

/// The ways in which a domain names the server of its handles.
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
    /// Redirects to itself.
    case loop
    /// A WebFinger document that names an address on the local network.
    case localNetwork
}
