package import ProviderKit

/// How an account is doing, as clients are told.
nonisolated package enum AccountState: Hashable, Sendable {
    case ready
    case loading(reason: String)
    case failed(reason: String)
    case loggedOut
}

/// An account: known for good, logged in for a while.
package final class Account {
    package let id: AccountID
    package let provider: any Provider
    package let identity: AccountIdentity
    package private(set) var state: AccountState
    package private(set) var profile: Profile
    /// Counts up with each change of what the account's pages may hold. A page that was asked for before a
    /// change may be older than it.
    package private(set) var generation = 0
    private(set) var record: AccountRecord
    private unowned let engine: Engine
    private var session: (any Session)?
    private var listening: Task<Void, Never>?

    init(_ record: AccountRecord, _ provider: any Provider, in engine: Engine) {
        self.record = record
        self.provider = provider
        self.engine = engine
        id = record.id
        identity = record.identity
        profile = Profile(username: record.identity.username, name: record.identity.username)
        state = Self.initialState(of: record)
    }

    package var isLoggedIn: Bool { record.isLoggedIn }
    package var label: String { record.label }
    package var defaultSource: SourceID { record.defaultSource ?? provider.info.defaultSource }

    // MARK: Being logged in

    /// The state before the session has told its own, which it does first of all.
    private static func initialState(of record: AccountRecord) -> AccountState {
        record.isLoggedIn ? .loading(reason: "The account is being opened.") : .loggedOut
    }

    /// Starts the session of an account that is logged in.
    func startSession() {
        guard isLoggedIn, session == nil else { return }
        let session = provider.makeSession(identity)
        self.session = session
        state = Self.initialState(of: record)
        listening = Task { [weak self] in
            for await event in session.events {
                // The session may have ended while the event was on its way here.
                guard !Task.isCancelled else { return }
                self?.handle(event)
            }
        }
        Task { try? await refreshProfile() }
    }

    /// Ends the session, if there is one. What was asked for and is under way still gets its answer.
    func endSession() {
        guard let session else { return }
        session.close()
        self.session = nil
        listening?.cancel()
        listening = nil
        generation += 1
        state = Self.initialState(of: record)
    }

    /// Takes over what was just stored, and starts or ends the session with it.
    func adopt(_ record: AccountRecord) {
        self.record = record
        generation += 1
        if isLoggedIn { startSession() } else { endSession() }
    }

    private func handle(_ event: SessionEvent) {
        let observer = engine.observer
        switch event {
        case .status(let status):
            let before = state
            state =
                switch status {
                case .ready: .ready
                case .loading(let reason): .loading(reason: reason)
                case .failed(let reason): .failed(reason: reason)
                }
            if state != before { observer?.accountChanged(self) }
        case .updated(let source, let new):
            generation += 1
            observer?.feedUpdated(self, source, new: new)
        case .changed(let photos):
            generation += 1
            observer?.photosChanged(self, photos)
        case .removed(let photos):
            generation += 1
            observer?.photosRemoved(self, photos)
        case .rateLimit: break
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
        guard try await feed().hasSource(source) else { throw Self.noSource(source) }
        try await engine.update(self) { $0.defaultSource = source }
    }

    // MARK: Photos

    /// One page of a source, and the cursor of the next: empty at the end.
    ///
    /// An empty `source` is the default one, an empty `cursor` the beginning; `count` is 1 to 100.
    package func page(
        _ source: String, cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String) {
        let feed = try feed()
        guard 1...100 ~= count else {
            throw EngineError.invalidArgument("A page has 1 to 100 photos, not \(count).")
        }
        let source = resolve(source)
        let place =
            cursor.isEmpty
            ? nil : try FeedCursor(parsing: cursor, account: id, source: source).place
        let page = try await feed.page(source, after: place, count: count)
        let next = page.next.map { FeedCursor($0, account: id, source: source).text }
        return (page.photos, next ?? "")
    }

    package func photo(_ photo: String) async throws -> Photo {
        try await feed().photo(PhotoID(photo))
    }

    package func sources() async throws -> [Source] { try await feed().sources() }

    package func refreshFeed(_ source: String) async throws -> Int {
        try await feed().refresh(resolve(source))
    }

    package func imagePath(_ photo: String, size: String) async throws -> String {
        try await images().imagePath(PhotoID(photo), parse(size))
    }

    /// The caller closes the descriptor.
    package func openImage(_ photo: String, size: String) async throws -> Int32 {
        try await images().openImage(PhotoID(photo), parse(size))
    }

    // MARK: Profile

    /// Asks the service who the user is. Does nothing where it does not say.
    package func refreshProfile() async throws {
        guard let session = session as? any ProfileSession else { return }
        let profile = try await session.profile()
        guard profile != self.profile else { return }
        self.profile = profile
        engine.observer?.accountChanged(self)
    }

    /// Asks for the profile and the default feed, now.
    package func refresh() async throws {
        try await refreshProfile()
        _ = try await refreshFeed("")
    }

    private func feed() throws -> any FeedSession {
        guard let session else {
            throw EngineError.needsLogin("\(label) is logged out; log in first.")
        }
        guard let feed = session as? any FeedSession else {
            throw EngineError.notSupported("\(provider.info.name) has no photos to show.")
        }
        return feed
    }

    private func images() throws -> any ImageSession {
        guard let images = try feed() as? any ImageSession else {
            throw EngineError.notSupported("\(provider.info.name) has no images to show.")
        }
        return images
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

    private static func noSource(_ source: SourceID) -> EngineError {
        .notFound("There is no source \"\(source)\".")
    }
}
