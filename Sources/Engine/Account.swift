internal import Glibc
package import ProviderKit

/// How an account is doing, as clients are told.
nonisolated package enum AccountState: Hashable, Sendable {
    case ready
    case loading(reason: String)
    case offline(reason: String)
    case rateLimited(until: Timestamp)
    /// The secret store is locked, or not there.
    case locked(reason: String)
    /// The service refused the token.
    case needsLogin(reason: String)
    case failed(reason: String)
    case loggedOut
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
    package let provider: any Provider
    package let identity: AccountIdentity
    package private(set) var profile: Profile
    package private(set) var profileState = ProfileState.loading
    private(set) var record: AccountRecord
    /// Held: what an account still hears of its service it tells through the engine.
    let engine: Engine
    private var service: (any PhotoService)?
    private var listening: Task<Void, Never>?

    /// What is left to like and unlike, until the session has read it.
    private var pendingAtStart: [PhotoID]

    init(
        _ record: AccountRecord, _ provider: any Provider, pendingLikes: [PhotoID] = [],
        in engine: Engine
    ) {
        self.record = record
        pendingAtStart = pendingLikes
        self.provider = provider
        self.engine = engine
        id = record.id
        identity = record.identity
        profile = Profile(username: record.identity.username, name: record.identity.username)
    }

    package var isLoggedIn: Bool { record.isLoggedIn }
    package var label: String { record.label }
    package var defaultSource: SourceID { record.defaultSource ?? provider.info.defaultSource }

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

    // MARK: Being logged in

    /// Starts the session of an account that is logged in.
    func startSession() {
        guard isLoggedIn, service == nil else { return }
        let service = engine.makeService(for: self)
        self.service = service
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
        service.close()
        self.service = nil
        listening?.cancel()
        listening = nil
        engine.notices.healAll(about: .account(id))
        engine.noteState(of: self)
    }

    /// Takes over what was just stored, and starts or ends the session with it.
    func adopt(_ record: AccountRecord) {
        self.record = record
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
            if state != before { serviceChanged() }
        case .updated(let source, let new): feedUpdated(source, new: new)
        case .changed(let photos): photosChanged(photos)
        case .removed(let photos): photosRemoved(photos)
        case .rateLimit(let limit):
            engine.accounts(sharingLimitsOf: self).forEach { $0.service?.note(limit) }
        }
    }

    // MARK: What the user sets

    /// Changes what the user calls the account.
    package func setLabel(_ label: String) async throws {
        guard !label.isEmpty, label.utf8.count <= 256 else {
            throw EngineError.invalidArgument("A label has 1 to 256 bytes.")
        }
        try await engine.update(self) { $0.label = label }
    }

    /// Changes what is shown first. A source that does not exist is `notFound`.
    package func setDefaultSource(_ source: SourceID) async throws {
        guard try await photos().hasSource(source) else {
            throw EngineError.notFound("There is no source \"\(source)\".")
        }
        try await engine.update(self) { $0.defaultSource = source }
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
        let place =
            cursor.isEmpty
            ? nil : try FeedCursor(parsing: cursor, account: id, source: source).place
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

    /// The caller closes the descriptor.
    package func openImage(_ photo: String, size: String) async throws -> Int32 {
        try await photos().openImage(PhotoID(photo), parse(size))
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
    package func bringProfile() async throws {
        guard remote?.isProfileYoung != true else { return }
        _ = try photos()
        try await refreshProfile()
    }

    /// Asks the service who the user is. Does nothing where it does not say.
    func refreshProfile() async throws {
        do {
            guard let profile = try await service?.profile() else { return }
            show(profile, .ready)
        } catch {
            show(profile, .failed)
            throw error
        }
    }

    /// The path of the picture of the person; empty where there is none. A file that is gone is fetched again
    /// behind the answer.
    package var avatar: String {
        guard !profile.avatar.isEmpty, access(profile.avatar, R_OK) != 0 else {
            return profile.avatar
        }
        let lost = profile
        Task {
            guard profile == lost else { return }
            var profile = lost
            profile.avatar = ""
            show(profile, profileState)
            profile.avatar = await remote?.avatar(of: lost) ?? ""
            if self.profile.avatar.isEmpty, self.profile.avatarURL == lost.avatarURL {
                show(profile, profileState)
            }
        }
        return ""
    }

    private func show(_ profile: Profile, _ state: ProfileState) {
        guard profile != self.profile || state != profileState else { return }
        self.profile = profile
        profileState = state
        engine.observer?.accountChanged(self)
    }

    /// Asks for the profile and the default feed, now. The user asked for it, so the keyring may prompt.
    package func refresh() async throws {
        try await remote?.unlock()
        try await refreshProfile()
        _ = try await refreshFeed("")
    }

    private func photos() throws -> any PhotoService {
        guard let service else {
            throw EngineError.needsLogin("\(label) is logged out; log in first.")
        }
        return service
    }

    private func parse(_ size: String) throws -> ImageSize {
        guard let size = ImageSize(rawValue: size) else {
            let sizes = ImageSize.allCases.map(\.rawValue).joined(separator: ", ")
            throw EngineError.invalidArgument("The size is one of \(sizes), not \"\(size)\".")
        }
        return size
    }

    private func resolve(_ source: String) -> SourceID {
        source.isEmpty ? defaultSource : SourceID(source)
    }
}

// MARK: - Likes

extension Account {
    /// Whether photos can be liked. Known before the session begins: a like may be what the daemon was started for.
    package var offersLikes: Bool { provider.info.capabilities.contains(.like) }
    /// Photos whose like or unlike is on its way or queued.
    package var pendingLikes: [PhotoID] {
        guard let likes = remote?.likes, likes.isLoaded else { return pendingAtStart }
        return likes.pending
    }
    /// How many photos the user likes, as far as that is known.
    package var likeCount: Int { remote?.likeCount ?? 0 }

    package func setLiked(_ photo: String, _ isWanted: Bool) async throws -> LikeOutcome {
        let all = try likes()
        return try await noticing(photo, isWanted ? .like : .unlike) {
            try await all.set(PhotoID(photo), isWanted)
        }
    }

    package func toggleLike(
        _ photo: String
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        let all = try likes()
        return try await noticing(photo, .toggle) { try await all.toggle(PhotoID(photo)) }
    }

    private func likes() throws -> Likes {
        guard let likes = remote?.likes else {
            throw EngineError.notSupported("\(provider.info.name) has no likes.")
        }
        return likes
    }
}

// MARK: - What its service tells

extension Account: RemoteServiceOwner {
    var savesData: Bool { engine.isMetered }

    func serviceChanged() {
        engine.observer?.accountChanged(self)
        engine.noteState(of: self)
    }

    func rateLimited(until: Timestamp?) {
        for account in engine.accounts(sharingLimitsOf: self) where account !== self {
            account.remote?.limit(until: until)
        }
    }

    func profileKnown(_ profile: Profile) { show(profile, .ready) }

    func feedUpdated(_ source: SourceID, new: Int) {
        engine.observer?.feedUpdated(self, source, new: new)
    }

    func feedGrew() { engine.observer?.accountChanged(self) }

    func photosChanged(_ photos: [Photo]) {
        engine.observer?.photosChanged(self, photos)
    }

    func photosRemoved(_ photos: [PhotoID]) {
        engine.observer?.photosRemoved(self, photos)
    }

    func likesChanged() {
        engine.observer?.accountChanged(self)
    }

    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int) {
        engine.notices.settle(photo, about: .account(id))
        engine.observer?.likeSettled(self, photo, isLiked: isLiked, likes: likes)
        engine.observer?.accountChanged(self)
    }

    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error) {
        engine.observer?.likeFailed(self, photo, isWanted: isWanted, error)
        noteFailedLike(photo, isWanted ? .like : .unlike, error)
    }
}
