package import ProviderKit

/// A provider whose users and photos are on this computer. A plugin cannot be one.
nonisolated package protocol FolderProvider: Provider {
    /// Checks the user name of a login before any work is done.
    ///
    /// - Parameter username: The user name.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` or ``ProviderError/notSupported(_:)`` if the login can never
    ///   succeed.
    func check(username: String) throws(ProviderError)

    /// Logs in, or registers a user and logs in.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - password: The password; nil for none.
    ///   - registers: True if the user is new and must be registered.
    /// - Returns: The identity.
    /// - Throws: ``ProviderError/noSuchUser(_:)``, ``ProviderError/userExists(_:)``,
    ///   ``ProviderError/wrongPassword(_:)``, or ``EngineError/tooManyPasswords``.
    func logIn(username: String, password: Secret?, registers: Bool) async throws -> AccountIdentity

    /// Checks that a user exists.
    ///
    /// - Throws: ``ProviderError/noSuchUser(_:)``; the errors of the store.
    func checkUser(_ account: AccountIdentity) async throws

    /// Deletes a user and all data that the provider stores about them.
    func removeUser(_ account: AccountIdentity) async throws

    /// Returns the profile of a user that may be logged out.
    func profile(of account: AccountIdentity) async throws -> Profile

    /// Creates the session of a logged-in user.
    func openFolder(_ account: AccountIdentity) -> any FolderSession
}

nonisolated extension FolderProvider {
    package func makeSession(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) -> any Session { openFolder(account) }
}

nonisolated extension Provider {
    /// The provider as ``FolderProvider``; nil if its photos are at a service.
    ///
    /// This is a cast, because a public protocol cannot have a requirement that only this package sees.
    package var folder: (any FolderProvider)? { self as? any FolderProvider }
}

/// A session that has the photos, the images and the likes of its user itself.
nonisolated package protocol FolderSession: Session {
    /// Returns a page of a source.
    ///
    /// A walk along the cursors neither repeats nor skips a photo that existed at its beginning, even if photos arrive
    /// meanwhile. The cursor before the first photo excludes photos that arrive above it later.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - cursor: A cursor of an earlier page of the source; nil for the beginning.
    ///   - count: The maximum number of photos, 1 to 100.
    /// - Returns: At most `count` photos; no photos only at the end.
    /// - Throws: ``ProviderError/notFound(_:)`` for a missing source, ``ProviderError/invalidArgument(_:)`` for a
    ///   malformed cursor, ``ProviderError/staleCursor``.
    func page(_ source: SourceID, after cursor: String?, count: Int) async throws -> Page

    /// Returns one photo. Throws ``ProviderError/notFound(_:)``.
    func photo(_ id: PhotoID) async throws -> Photo

    /// Returns the sources of the user, the default one first.
    func sources() async throws -> [Source]

    /// Returns true if a source exists.
    func hasSource(_ id: SourceID) async throws -> Bool

    /// Looks for new photos. Also emits ``SessionEvent/updated(_:new:)``.
    ///
    /// - Parameter source: The source.
    /// - Returns: The number of new photos.
    /// - Throws: ``ProviderError``.
    func refresh(_ source: SourceID) async throws -> Int

    /// Returns the absolute path of an image file.
    ///
    /// - Throws: ``ProviderError/notFound(_:)``; ``ProviderError/notSupported(_:)`` for a size that is not available.
    func imagePath(_ photo: PhotoID, _ size: ImageSize) async throws -> String

    /// Opens an image for reading. The caller closes the descriptor. Throws the errors of ``imagePath(_:_:)``.
    func openImage(_ photo: PhotoID, _ size: ImageSize) async throws -> Int32

    /// The source with the user's liked photos.
    var likesSource: SourceID { get }

    /// Likes or unlikes a photo. No event reports the change.
    ///
    /// - Returns: The photo after the change, and the number of photos that the user likes; nil if the photo already had
    ///   the state.
    /// - Throws: ``ProviderError/notFound(_:)``.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> (photo: Photo, count: Int)?

    /// Sets the avatar to a square copy of an image, which is independent of the file.
    ///
    /// - Parameter file: The path of the image.
    /// - Throws: ``ProviderError/notSupported(_:)`` without an image helper, ``ProviderError/storageFull``,
    ///   ``ProviderError/failed(_:)`` for an unusable image.
    func setAvatar(_ file: String) async throws

    /// The source whose photos depend on the present date.
    var datedSource: SourceID { get }

    /// Starts or ends the watch of ``datedSource``. While it is watched, the session emits
    /// ``SessionEvent/updated(_:new:)`` when the date has changed its photos.
    func setWatched(_ isWatched: Bool)

    /// True if changes of some folders cause no event. Announced by ``SessionEvent/notices(_:)``.
    var hasUnreportedFolders: Bool { get }

    /// Looks for changes that cause no event. Also emits ``SessionEvent/updated(_:new:)``.
    func refreshUnreported() async

    /// Checks the date at once, because the machine was suspended.
    func clockChanged()

    /// Keeps the IDs of these photos, and no longer those that were kept for the same reason.
    ///
    /// - Parameters:
    ///   - photos: The photos. Unknown ones are ignored.
    ///   - mark: The reason.
    /// - Throws: ``ProviderError``.
    func setMarked(_ photos: Set<PhotoID>, _ mark: PhotoMark) async throws
}

/// A reason for which a photo keeps its ID, although its file moves and the cache is lost. The raw values are stored.
nonisolated package enum PhotoMark: String, Sendable {
    /// The user likes the photo.
    case like
    /// The photo is excluded from the slideshow.
    case hidden
    /// The photo is the current one of the slideshow.
    case current
}

/// Consecutive photos of a source, with the cursor of every position.
nonisolated package struct Page: Sendable {
    /// The photos, in the order of the source.
    package var photos: [Photo]
    /// True if more photos may follow.
    package let hasMore: Bool
    /// Returns the cursor after a number of photos; nil for the beginning of the source. It is computed on demand,
    /// because most callers need only the last one.
    package let cursor: @Sendable (_ count: Int) -> String?
    /// The cursor of the next page; nil at the end of the source.
    package var next: String? { hasMore ? cursor(photos.count) : nil }

    /// Creates a page.
    package init(photos: [Photo], hasMore: Bool, cursor: @escaping @Sendable (Int) -> String?) {
        self.photos = photos
        self.hasMore = hasMore
        self.cursor = cursor
    }
}
