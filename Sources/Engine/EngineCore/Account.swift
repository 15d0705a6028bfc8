package import EngineModel
internal import Glibc
internal import Images
package import ProviderKit
internal import Quoting
internal import Services
internal import SlideshowCore
internal import System
internal import Translation

/// An account. It is known from its first login until it is removed, and has a session while it is logged in.
package final class Account {
    package let id: AccountID
    package private(set) var provider: any Provider
    package private(set) var profile: Profile
    package private(set) var profileState = ProfileState.loading
    private(set) var record: AccountRecord
    /// The engine that has the account. A strong reference: events of the service that arrive late still use it.
    package let engine: Engine
    /// The photos; nil while the account is logged out.
    private(set) var photos: (any AccountPhotos)?
    /// The photos if they are at a service; nil for a folder.
    var service: RemoteService? { photos as? RemoteService }
    /// The token of a session at a service; nil without a session, and for a folder.
    var credentials: Credentials? { service?.credentials }
    private var listening: Task<Void, Never>?
    /// The token of the previous session, for the next one, which then does not read it from the keyring.
    private var heldToken: Credentials.HeldToken?
    /// The watched sources, which it refreshes at a service. The watches outlast a session.
    private(set) lazy var feedWatch = FeedWatch(self)
    /// True if the source that the user chose does not exist now, for example a renamed folder or an unmounted disk.
    private var isChosenSourceGone = false
    private var isCheckingSource = false

    /// True if a password of the account may be valid although the account no longer uses it.
    var hasUnrevokedToken = false {
        didSet { if hasUnrevokedToken != oldValue { emit(.changed(.state)) } }
    }

    /// The notices of the session.
    private var sessionNotices: [String] = []

    /// The photos with pending likes, until the session has loaded its own list.
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
    }

    /// The identity, as last reported by the service.
    package var identity: AccountIdentity { record.identity }
    package var isLoggedIn: Bool { record.isLoggedIn }
    package var label: String { record.label }
    /// The source that the user chose, as long as it exists; otherwise the default source of the provider.
    package var defaultSource: SourceID {
        if !isChosenSourceGone, let chosen = record.defaultSource { return chosen }
        let source = provider.info.defaultSource
        // A provider that is not installed or is invalid has no default source.
        return source.text.isEmpty ? engine.defaultSources[provider.info.id] ?? source : source
    }

    package var state: AccountState {
        guard isLoggedIn else { return .loggedOut }
        return photos?.state ?? .loading(reason: Message("The account is being opened."))
    }

    /// The time of the next automatic retry; nil if none is due.
    package var retryAt: Timestamp? { service?.retryAt }
    /// The request limit of the service; nil if the service does not report it.
    package var rateLimit: RateLimit? { service?.rateLimit }

    /// Sentences for the user about photos, sources and likes that the account cannot have at the service.
    package var notices: [String] {
        guard isLoggedIn || !hasUnrevokedToken else {
            return [
                tr(
                    "The password of this login is still valid at {server}; it is revoked when the server can be reached.",
                    ["server": identity.server])
            ]
        }
        return sessionNotices + (service?.notices ?? [])
    }

    /// True if the photos are on this computer.
    var isLocal: Bool { provider.folder != nil }

    // MARK: Session

    /// Starts the session of an account that is logged in.
    func startSession() {
        guard isLoggedIn, self.photos == nil else { return }
        let photos = engine.openPhotos(of: self)
        self.photos = photos
        if let heldToken { credentials?.resume(with: heldToken) }
        heldToken = nil
        profileState = .loading
        updateDatedWatch()
        listening = Task { [weak self] in
            for await event in photos.events {
                // The session may have ended before the event arrived here.
                guard !Task.isCancelled else { return }
                self?.handle(event)
                // Many events may be waiting, and other clients too.
                await Task.yield()
            }
        }
        photos.start()
    }

    /// Ends the session, if there is one. Requests in progress still complete.
    func endSession() {
        guard let photos else { return }
        pendingAtStart = isLoggedIn ? pendingLikes : []
        heldToken = credentials?.held
        photos.close()
        self.photos = nil
        sessionNotices = []
        listening?.cancel()
        listening = nil
        engine.notifications.resolveAll(about: .account(id))
        engine.reportState(of: self)
        feedWatch.update()
    }

    /// Announces a session with another provider or other settings. Clients read the photos again, because any of them
    /// may have changed.
    func announceSession() {
        emit(.changed(.session))
        for source in feedWatch.sources { emit(.updated(source, new: 0)) }
    }

    /// Restarts the session with another version of the provider, or with the placeholder of a missing one.
    func change(to provider: any Provider) {
        endSession()
        self.provider = provider
        startSession()
    }

    /// Applies a record that was just stored, and starts or ends the session accordingly.
    func adopt(_ record: AccountRecord) {
        if record.defaultSource != self.record.defaultSource { isChosenSourceGone = false }
        self.record = record
        credentials?.label = provider.secretLabel(for: identity)
        defer { engine.updateSecretsConnection() }
        guard !isLoggedIn else { return startSession() }
        if photos != nil, !isLocal {
            // The other profile data of the service was deleted. The profile of a folder remains.
            profile = Profile(username: identity.username, name: identity.username)
            profileState = .loading
        }
        endSession()
    }

    private func handle(_ event: SessionEvent) {
        switch event {
        case .status(let status):
            photos?.update(status)
            checkDefaultSourceSoon()
        case .updated(let source, let new):
            emit(.updated(source, new: new))
            endOldWatches(source)
            checkDefaultSourceSoon()
        case .changed(let photos):
            emit(.photosChanged(photos))
        case .added(let photos):
            for slideshow in engine.slideshows.all { slideshow.reader.photosAdded(id, photos) }
        case .removed(let photos):
            emit(.photosRemoved(photos))
            checkDefaultSourceSoon()
        case .rateLimit(let limit):
            engine.accounts(sharingLimitsOf: self).forEach { $0.service?.update(limit) }
        case .likes(let count):
            photos?.likeCount = count
            emit(.changed(.likes))
        case .notices(let sentences):
            let sentences = sentences.prefix(RemoteService.maximumNotices).compactMap(
                ServiceText.message)
            guard sentences != sessionNotices else { return }
            sessionNotices = sentences
            emit(.changed(.state))
        }
    }

    // MARK: Settings of the user

    /// Changes the label of the account.
    package func setLabel(_ label: String) async throws {
        guard label.utf8.count <= 256, !label.contains(where: { $0 == "\t" || $0.isNewline }),
            ServiceText.paragraphs(label)?.utf8.elementsEqual(label.utf8) == true
        else {
            throw EngineError.invalidArgument(
                "A label is one line of 1 to 256 bytes, without control characters or surrounding white space."
            )
        }
        try await engine.accounts.update(self) { $0.label = label }
    }

    /// Changes the default source. Throws ``EngineError/notFound(_:)`` if the source does not exist.
    package func setDefaultSource(_ source: SourceID) async throws {
        try await checkSource(source)
        try await engine.accounts.update(self) { $0.defaultSource = source }
    }

    /// Checks if the source that the user chose exists, which may be that of a folder that disappeared.
    ///
    /// - Returns: The current default source.
    @discardableResult
    package func checkDefaultSource() async -> SourceID {
        guard isLocal, let photos, let chosen = record.defaultSource else { return defaultSource }
        let isThere = (try? await photos.hasSource(chosen)) ?? true
        guard self.photos === photos, record.defaultSource == chosen,
            isChosenSourceGone == isThere
        else { return defaultSource }
        isChosenSourceGone = !isThere
        emit(.changed(.settings))
        return defaultSource
    }

    /// Checks the default source once for all events that arrive together.
    private func checkDefaultSourceSoon() {
        guard isLocal, record.defaultSource != nil, !isCheckingSource else { return }
        isCheckingSource = true
        Task {
            isCheckingSource = false
            await checkDefaultSource()
        }
    }

    // MARK: Photos

    /// Reads one page of a source.
    ///
    /// - Parameters:
    ///   - source: The source; empty for the default source.
    ///   - cursor: The cursor of the previous page; empty for the first page.
    ///   - count: The number of photos, 1 to 100.
    /// - Returns: The photos, and the cursor of the next page, which is empty at the end.
    /// - Throws: ``EngineError/needsLogin(_:)``, ``EngineError/invalidArgument(_:)``, ``ProviderError``, ``HTTPError``.
    package func page(
        _ source: String, cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String) {
        let photos = try session()
        guard 1...100 ~= count else {
            throw EngineError.invalidArgument("A page has 1 to 100 photos, not \(count).")
        }
        let source = resolve(source)
        let position = try cursor.isEmpty ? nil : position(cursor, source)
        let page = try await photos.page(source, after: position, count: count, fillsGaps: true)
        let next = page.next.map { id.cursor(at: $0, in: source) }
        return (page.photos, next ?? "")
    }

    /// Returns a photo.
    package func photo(_ photo: String) async throws -> Photo {
        try await session().photo(PhotoID(photo))
    }

    /// Returns true if a source exists.
    func hasSource(_ source: SourceID) async throws -> Bool {
        try await session().hasSource(source)
    }

    /// Throws unless a source exists.
    func checkSource(_ source: SourceID) async throws {
        guard try await hasSource(source) else {
            throw EngineError.notFound("There is no source \(source.text.quoted).")
        }
    }

    /// Returns the sources of the account.
    package func sources() async throws -> [Source] { try await session().sources() }

    /// Fetches the newest photos of a source; empty for the default source.
    ///
    /// - Returns: The number of new photos.
    package func refreshFeed(_ source: String) async throws -> Int {
        try await session().refresh(resolve(source))
    }

    /// Returns the path of an image, which is fetched if necessary.
    package func imagePath(_ photo: String, size: String) async throws -> String {
        try await session().imagePath(PhotoID(photo), ImageSize(parsing: size, "size"))
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
        let original = try await session().openImage(
            PhotoID(photo), ImageSize(parsing: size, "size"))
        return try await engine.sealedImages.copy(of: original, isComplete: !isLocal, for: client)
    }

    // MARK: Profile

    /// Fetches the profile, unless it was fetched a few minutes ago. Does nothing for a service without profiles.
    ///
    /// - Throws: ``EngineError/needsLogin(_:)`` while the account is logged out.
    package func refreshProfileIfStale() async throws {
        guard service?.isProfileFresh != true else { return }
        if !isLocal { _ = try session() }
        try await refreshProfile()
    }

    /// Fetches the profile. Does nothing for a service without profiles.
    ///
    /// A user of this computer has a profile also while logged out.
    func refreshProfile() async throws {
        do {
            let profile =
                if let folder = provider.folder { try await folder.profile(of: identity) } else {
                    try await service?.profile()
                }
            guard let profile else { return }
            show(profile, .ready)
        } catch {
            show(profile, .failed)
            throw error
        }
    }

    /// Removes the path of an avatar whose file does not exist from the profile, and fetches the avatar again.
    func handleLostAvatar() async {
        let lost = profile
        var profile = lost
        profile.avatar = ""
        show(profile, profileState)
        profile.avatar = await service?.avatar(of: lost) ?? ""
        if self.profile.avatar.isEmpty, self.profile.avatarURL == lost.avatarURL {
            show(profile, profileState)
        }
    }

    /// Records the profile and its state, and emits a change.
    func show(_ profile: Profile, _ state: ProfileState) {
        guard profile != self.profile || state != profileState else { return }
        self.profile = profile
        profileState = state
        emit(.changed(.profile))
    }

    /// Fetches the profile, the default feed and the sources. The user requested it, so the keyring may prompt.
    package func refresh() async throws {
        try provider.checkUsability()
        let wasLocked = if case .locked = state { true } else { false }
        try await credentials?.unlock()
        if wasLocked { engine.retryNow() }
        // The user may have granted the permission to like photos.
        service?.checkLikesAgain()
        // One limit for both: clients stop waiting after 25 s.
        try await withTimeLimit(RemoteService.callTimeout, engine.ports.clock) { [self] in
            try await refreshProfile()
            _ = try await refreshFeed("")
            // The state of the account reports a failure of the service.
            try? await service?.refreshSources()
        } onTimeout: {
            throw ProviderError.failed(Message("The refresh took too long; try again later."))
        }
    }

    /// Returns the photos of the present session.
    ///
    /// - Throws: ``EngineError/needsLogin(_:)`` while the account is logged out.
    func session() throws -> any AccountPhotos {
        guard let photos else { throw loggedOutError }
        return photos
    }

    var loggedOutError: EngineError {
        .needsLogin(Message("{account} is logged out; log in first.", ["account": label.excerpt]))
    }

    /// Returns the position of a cursor in a source.
    private func position(_ cursor: String, _ source: SourceID) throws -> String {
        do {
            return try id.position(of: cursor, in: source)
        } catch {
            // A walk through the default source ends if another source becomes the default.
            guard isChosenSourceGone, source == defaultSource, let chosen = record.defaultSource,
                (try? id.position(of: cursor, in: chosen)) != nil
            else { throw error }
            throw ProviderError.staleCursor
        }
    }

    /// Returns the source that a call selects: the default source for an empty text.
    package func resolve(_ source: String) -> SourceID {
        source.isEmpty ? defaultSource : SourceID(source)
    }
}
