internal import Glibc
internal import Logging
package import ProviderKit
internal import Quoting

/// How an account is doing, as clients are told.
nonisolated package enum AccountState: Hashable, Sendable {
    case ready
    case loading(reason: String)
    case offline(reason: String)
    case rateLimited(until: Timestamp)
    /// The secret store is locked, is missing or does not work.
    case locked(reason: String, remedy: Remedy)
    /// The service refused the token.
    case needsLogin(reason: String)
    case failed(reason: String, remedy: Remedy?)
    case loggedOut

    /// The action of the user that ends the state; nil if there is none, or if the state ends without one.
    package var remedy: Remedy? {
        switch self {
        case .ready, .loading, .offline, .rateLimited: nil
        case .locked(_, let remedy): remedy
        case .needsLogin, .loggedOut: .login
        case .failed(_, let remedy): remedy
        }
    }
}

/// Whether what is shown of a person is what their service says.
package enum ProfileState: String {
    case loading
    case ready
    case failed
}

/// An account: known for good, logged in for a while.
package final class Account {
    package let id: AccountID
    package private(set) var provider: any Provider
    package private(set) var profile: Profile
    package private(set) var profileState = ProfileState.loading
    private(set) var record: AccountRecord
    /// Held: what an account still hears of its service it tells through the engine.
    let engine: Engine
    private var service: (any PhotoService)?
    private var listening: Task<Void, Never>?
    /// The token that the next session begins with, so that it need not be read from the keyring.
    var heldToken: Credentials.HeldToken?
    /// Refreshes the watched sources. The watches outlast a session.
    let feedWatch = FeedWatch()
    /// Whether what the user has chosen is not there now: a folder that was renamed, or a disk that is away.
    private var isChosenSourceGone = false
    private var isCheckingSource = false

    /// What is left to like and unlike, until the session has read it.
    private(set) var pendingAtStart: [PhotoID]

    init(
        _ record: AccountRecord, _ provider: any Provider, pendingLikes: [PhotoID] = [],
        in engine: Engine
    ) {
        self.record = record
        pendingAtStart = pendingLikes
        self.provider = provider
        self.engine = engine
        id = record.id
        profile = Profile(username: record.identity.username, name: record.identity.username)
        feedWatch.owner = self
    }

    /// The identity, as last reported by the service.
    package var identity: AccountIdentity { record.identity }
    package var isLoggedIn: Bool { record.isLoggedIn }
    package var label: String { record.label }
    /// What is shown first: what the user has chosen, as long as it is there.
    package var defaultSource: SourceID {
        if !isChosenSourceGone, let chosen = record.defaultSource { return chosen }
        let source = provider.info.defaultSource
        // What is left of a provider that is gone or invalid has none.
        return source.text.isEmpty ? engine.defaultSources[provider.info.id] ?? source : source
    }

    package var state: AccountState {
        guard isLoggedIn else { return .loggedOut }
        return service?.state ?? .loading(reason: "The account is being opened.")
    }

    /// When the account tries again by itself; nil if it has no reason to.
    package var retryAt: Timestamp? { remote?.retryAt }
    /// How many requests its service still takes; nil where it says nothing.
    package var rateLimit: RateLimit? { remote?.rateLimit }

    /// What there is of an account at a service of the network.
    var remote: RemoteService? { service as? RemoteService }
    /// What there is of an account whose provider has its photos at hand.
    var direct: DirectService? { service as? DirectService }

    // MARK: Being logged in

    /// Starts the session of an account that is logged in.
    func startSession() {
        guard isLoggedIn, service == nil else { return }
        let service = engine.makeService(for: self)
        self.service = service
        if let heldToken { remote?.credentials.resume(with: heldToken) }
        heldToken = nil
        profileState = .loading
        listening = Task { [weak self] in
            for await event in service.session.events {
                // The session may have ended while the event was on its way here.
                guard !Task.isCancelled else { return }
                self?.handle(event)
            }
        }
        service.start()
        if service is DirectService { Task { try? await refreshProfile() } }
    }

    /// Ends the session, if there is one. What was asked for and is under way still gets its answer.
    func endSession() {
        guard let service else { return }
        pendingAtStart = isLoggedIn ? pendingLikes : []
        heldToken = remote?.credentials.held
        service.close()
        self.service = nil
        listening?.cancel()
        listening = nil
        engine.notices.healAll(about: .account(id))
        engine.noteState(of: self)
        feedWatch.update()
    }

    /// Goes on with another version of its provider, or with what is known of one that is gone.
    func change(to provider: any Provider) {
        endSession()
        self.provider = provider
        startSession()
    }

    /// Takes over what was just stored, and starts or ends the session with it.
    func adopt(_ record: AccountRecord) {
        if record.defaultSource != self.record.defaultSource { isChosenSourceGone = false }
        self.record = record
        remote?.credentials.label = Engine.secretLabel(identity, provider)
        defer { engine.updateSecretsConnection() }
        guard !isLoggedIn else { return startSession() }
        if remote != nil {
            // It went with the rest of what the service told. Users whom the provider keeps stay as they are.
            profile = Profile(username: identity.username, name: identity.username)
            profileState = .loading
        }
        endSession()
    }

    private func handle(_ event: SessionEvent) {
        switch event {
        case .status(let status):
            let before = state
            service?.note(status)
            if state != before {
                serviceChanged()
                // A folder that became available or unavailable.
                if direct != nil { engine.observer?.accountChanged(self, .feed) }
            }
            checkDefaultSourceSoon()
        case .updated(let source, let new):
            feedUpdated(source, new: new)
            checkDefaultSourceSoon()
        case .changed(let photos): photosChanged(photos)
        case .removed(let photos):
            photosRemoved(photos)
            checkDefaultSourceSoon()
        case .rateLimit(let limit):
            engine.accounts(sharingLimitsOf: self).forEach { $0.service?.note(limit) }
        case .likes(let count):
            direct?.likeCount = count
            engine.observer?.accountChanged(self, .likes)
        case .profileChanged: Task { try? await refreshProfile() }
        }
    }

    // MARK: What the user sets

    /// Changes what the user calls the account.
    package func setLabel(_ label: String) async throws {
        guard label.utf8.count <= 256, !label.contains(where: { $0 == "\t" || $0.isNewline }),
            ServiceText.paragraphs(label)?.utf8.elementsEqual(label.utf8) == true
        else {
            throw EngineError.invalidArgument(
                "A label is a line of 1 to 256 bytes, without control characters and white space around it."
            )
        }
        try await engine.update(self) { $0.label = label }
    }

    /// Changes what is shown first. A source that does not exist is `notFound`.
    package func setDefaultSource(_ source: SourceID) async throws {
        guard try await photos().hasSource(source) else {
            throw EngineError.notFound("There is no source \(source.text.quoted).")
        }
        try await engine.update(self) { $0.defaultSource = source }
    }

    /// Finds out whether the source that the user has chosen is there, where that may change by itself.
    ///
    /// - Returns: What is shown first now.
    @discardableResult
    package func checkDefaultSource() async -> SourceID {
        guard let direct, let chosen = record.defaultSource else { return defaultSource }
        let isThere = (try? await direct.hasSource(chosen)) ?? true
        guard self.direct === direct, record.defaultSource == chosen,
            isChosenSourceGone == isThere
        else { return defaultSource }
        isChosenSourceGone = !isThere
        engine.observer?.accountChanged(self, .settings)
        return defaultSource
    }

    /// Once for all that is told at a time.
    private func checkDefaultSourceSoon() {
        guard direct != nil, record.defaultSource != nil, !isCheckingSource else { return }
        isCheckingSource = true
        Task {
            isCheckingSource = false
            await checkDefaultSource()
        }
    }

    // MARK: Photos

    /// One page of a source, and the cursor of the next: empty at the end.
    ///
    /// An empty `source` is the default one, an empty `cursor` the beginning; `count` is 1 to 100.
    package func page(
        _ source: String, cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String) {
        let service = try photos()
        guard 1...100 ~= count else {
            throw EngineError.invalidArgument("A page has 1 to 100 photos, not \(count).")
        }
        let source = resolve(source)
        let place = try cursor.isEmpty ? nil : place(cursor, source)
        let page = try await service.page(source, after: place, count: count)
        let next = page.next.map { FeedCursor($0, account: id, source: source).text }
        return (page.photos, next ?? "")
    }

    package func photo(_ photo: String) async throws -> Photo {
        try await photos().photo(PhotoID(photo))
    }

    package func sources() async throws -> [Source] { try await photos().sources() }

    package func refreshFeed(_ source: String) async throws -> Int {
        try await photos().refresh(resolve(source))
    }

    package func imagePath(_ photo: String, size: String) async throws -> String {
        try await photos().imagePath(PhotoID(photo), parse(size))
    }

    /// Opens an image, which cannot be modified through the descriptor. The caller closes it.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - size: The name of the size.
    ///   - client: The client that calls. The memory that images of one client take is limited.
    /// - Returns: The descriptor, open for reading.
    /// - Throws: ``EngineError``, ``ProviderError`` or ``HTTPError``.
    package func openImage(
        _ photo: String, size: String, for client: String = ""
    ) async throws -> Int32 {
        let original = try await photos().openImage(PhotoID(photo), parse(size))
        return try await engine.sealedImages.copy(
            of: original, isComplete: remote != nil, for: client)
    }

    /// Does something with the best there is of a photo; not if the account is logged out by then.
    func original<Value>(
        _ photo: String, _ use: (Original) throws -> Value
    ) async throws -> Value {
        let original = try await photos().original(PhotoID(photo))
        _ = try photos()
        return try use(original)
    }

    // MARK: Profile

    /// Asks the service who the user is, unless that was done some minutes ago. Does nothing where it does not
    /// say.
    ///
    /// - Throws: ``EngineError/needsLogin(_:)`` while the account is logged out.
    package func refreshProfileIfStale() async throws {
        guard remote?.isProfileYoung != true else { return }
        // Who keeps its users itself knows them also while they are logged out.
        if !(provider is any ProfileProvider) { _ = try photos() }
        try await refreshProfile()
    }

    /// Asks the service who the user is. Does nothing where it does not say.
    ///
    /// A provider that keeps its users itself says so also while they are logged out.
    func refreshProfile() async throws {
        do {
            var profile = try await service?.profile()
            if profile == nil, let provider = provider as? any ProfileProvider {
                profile = try await provider.profile(of: identity)
            }
            guard let profile else { return }
            show(profile, .ready)
        } catch {
            show(profile, .failed)
            throw error
        }
    }

    /// Removes the path of an avatar whose file does not exist from the profile, and fetches the avatar again.
    func avatarLost() async {
        let lost = profile
        var profile = lost
        profile.avatar = ""
        show(profile, profileState)
        profile.avatar = await remote?.avatar(of: lost) ?? ""
        if self.profile.avatar.isEmpty, self.profile.avatarURL == lost.avatarURL {
            show(profile, profileState)
        }
    }

    private func show(_ profile: Profile, _ state: ProfileState) {
        guard profile != self.profile || state != profileState else { return }
        self.profile = profile
        profileState = state
        engine.observer?.accountChanged(self, .profile)
    }

    /// Asks for the profile and the default feed, now. The user asked for it, so the keyring may prompt.
    package func refresh() async throws {
        let wasLocked = if case .locked = state { true } else { false }
        try await remote?.unlock()
        if wasLocked { engine.tryAgain() }
        // One limit for both: clients stop waiting after 25 s.
        try await withTimeLimit(RemoteService.patience, engine.ports.clock) { [self] in
            try await refreshProfile()
            _ = try await refreshFeed("")
        } onTimeout: {
            throw ProviderError.failed("The refresh takes too long; try again later.")
        }
    }

    /// The session that the provider made.
    func session() throws -> any Session { try photos().session }

    private func photos() throws -> any PhotoService {
        guard let service else {
            throw EngineError.needsLogin("\(label.excerpt) is logged out; log in first.")
        }
        return service
    }

    private func parse(_ size: String) throws -> ImageSize {
        guard let size = ImageSize(rawValue: size) else {
            let sizes = ImageSize.allCases.map(\.rawValue).joined(separator: ", ")
            throw EngineError.invalidArgument("The size is one of \(sizes), not \(size.quoted).")
        }
        return size
    }

    /// What a cursor names in a source.
    private func place(_ cursor: String, _ source: SourceID) throws -> String {
        do {
            return try FeedCursor(parsing: cursor, account: id, source: source).place
        } catch {
            // A walk through the default source ends when that becomes another.
            guard isChosenSourceGone, source == defaultSource, let chosen = record.defaultSource,
                (try? FeedCursor(parsing: cursor, account: id, source: chosen)) != nil
            else { throw error }
            throw ProviderError.staleCursor
        }
    }

    func resolve(_ source: String) -> SourceID {
        source.isEmpty ? defaultSource : SourceID(source)
    }
}

// MARK: - What its service tells

extension Account: RemoteServiceOwner {
    var savesData: Bool { engine.isMetered }

    func serviceChanged() {
        engine.observer?.accountChanged(self, .state)
        engine.noteState(of: self)
        feedWatch.update()
    }

    func isWatched(_ source: SourceID) -> Bool { feedWatch.isWatched(source) }

    func sourceRefreshed(_ source: SourceID) { feedWatch.sourceRefreshed(source) }

    func rateLimited(until: Timestamp?) {
        for account in engine.accounts(sharingLimitsOf: self) where account !== self {
            account.remote?.limit(until: until)
        }
    }

    func profileKnown(_ profile: Profile) { show(profile, .ready) }

    func identityReported(_ profile: Profile) {
        // Without an ID, a new name is no proof of a rename.
        guard
            let userID = AccountIdentity(username: profile.username, userID: profile.userID).userID,
            identity.userID == nil || identity.userID == userID
        else { return }
        let reported = AccountIdentity(
            username: profile.username, server: identity.server, userID: userID)
        guard reported != identity else { return }
        Task { [engine] in
            do {
                try await engine.update(self) { $0.update(reported) }
            } catch {
                // The next response reports it again.
                engine.ports.logger.notice(
                    "The user ID cannot be stored", metadata: ["error": "\(error)"])
            }
        }
    }

    func feedUpdated(_ source: SourceID, new: Int) {
        engine.observer?.feedUpdated(self, source, new: new)
    }

    func feedGrew() { engine.observer?.accountChanged(self, .feed) }

    func photosChanged(_ photos: [Photo]) {
        engine.observer?.photosChanged(self, photos)
    }

    func photosRemoved(_ photos: [PhotoID]) {
        engine.observer?.photosRemoved(self, photos)
    }

    func likesChanged() {
        engine.observer?.accountChanged(self, .likes)
    }

    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int) {
        engine.notices.settle(photo, about: .account(id))
        engine.observer?.likeSettled(self, photo, isLiked: isLiked, likes: likes)
        engine.observer?.accountChanged(self, .likes)
    }

    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error) {
        engine.observer?.likeFailed(self, photo, isWanted: isWanted, error)
        noteFailedLike(photo, isWanted ? .like : .unlike, error)
    }
}
