public import Translation

/// The connection of a logged-in account to its provider.
///
/// Each optional feature is a protocol that refines this one, and a property with the name of that protocol. A type that
/// conforms to ``RemoteLikes`` returns itself as ``remoteLikes``; a type that does not conform returns nil. Implement
/// such a property only if the feature depends on the account: conform to the protocol, and return `self` or nil.
///
/// A class must itself conform to the protocols of its features. The conformance of a subclass does not change a
/// property.
public protocol Session: Sendable {
    /// The events of the session. The first one is a ``SessionEvent/status(_:)``. Only the engine reads them. The
    /// stream ends with ``close()``.
    var events: AsyncStream<SessionEvent> { get }

    /// Closes the session: stops background work and ends ``events``.
    func close()

    /// The session as ``RemoteFeed``; nil if its photos do not come from a web service.
    var remoteFeed: (any RemoteFeed)? { get }
    /// The session as ``RemoteLikes``; nil if its service has no likes.
    var remoteLikes: (any RemoteLikes)? { get }
    /// The session as ``RemoteImages``; nil if its images are public.
    var remoteImages: (any RemoteImages)? { get }
    /// The session as ``ProfileSession``; nil if it has no profile.
    var profileSession: (any ProfileSession)? { get }
}

/// An event of a session. A plugin can send only ``status(_:)`` and ``rateLimit(_:)``.
public enum SessionEvent: Sendable {
    /// The state of the session changed.
    case status(SessionStatus)
    /// New photos are at the top of a source; 0 if photos were only removed.
    case updated(SourceID, new: Int)
    /// Properties of these photos changed.
    case changed([Photo])
    /// These photos are new, with any date. A provider that stores its photos itself also emits ``updated(_:new:)``.
    case added([PhotoID])
    /// These photos were removed.
    case removed([PhotoID])
    /// The service reported its rate limit.
    case rateLimit(RateLimit)
    /// The number of photos that a user of this computer likes changed.
    case likes(count: Int)
    /// Sentences for the user about photos and sources that the session omits although the service has them, and the
    /// remedies; they replace the earlier ones.
    case notices([String])
}

/// The state of a session.
public enum SessionStatus: Hashable, Sendable {
    /// The session works.
    case ready
    /// There are no photos yet; the reason is a sentence for the user.
    case loading(reason: Message)
    /// The session cannot work. The remedy is nil if the state ends without a user action.
    case failed(reason: Message, remedy: Remedy? = .retry)
}

/// A session that can fetch the profile of its user.
public protocol ProfileSession: Session {
    /// Fetches the profile.
    ///
    /// - Returns: The profile.
    /// - Throws: ``ProviderError``, ``HTTPError``.
    func profile() async throws -> Profile
}

// The default of each optional feature: the session itself if its type conforms to the protocol of the feature. The
// compiler chooses the default where the type conforms to `Session`.

extension Session {
    /// Nil.
    public var remoteFeed: (any RemoteFeed)? { nil }
    /// Nil.
    public var remoteLikes: (any RemoteLikes)? { nil }
    /// Nil.
    public var remoteImages: (any RemoteImages)? { nil }
    /// Nil.
    public var profileSession: (any ProfileSession)? { nil }
}

extension RemoteFeed {
    /// The session.
    public var remoteFeed: (any RemoteFeed)? { self }
}

extension RemoteLikes {
    /// The session.
    public var remoteLikes: (any RemoteLikes)? { self }
}

extension RemoteImages {
    /// The session.
    public var remoteImages: (any RemoteImages)? { self }
}

extension ProfileSession {
    /// The session.
    public var profileSession: (any ProfileSession)? { self }
}

/// The profile of the user of an account.
public struct Profile: Hashable, Sendable {
    /// The user name at the service.
    public var username: String
    /// The stable ID of the user at the service, as in ``AccountIdentity/userID``; nil if the service has none.
    public var userID: String?
    /// The name to show.
    public var name: String
    /// The description that the user wrote; empty if there is none.
    public var bio = ""
    /// The place that the user entered; empty if there is none.
    public var location = ""
    /// The address of the profile page; empty if there is none.
    public var url = ""
    /// The path of a local image file; empty if there is none. Providers at web services set ``avatarURL`` instead.
    public var avatar = ""
    /// The address of the avatar at the service; empty if there is none. The engine fetches it.
    public var avatarURL = ""
    /// The number of photos that the user likes; nil if the service does not state it.
    public var likes: Int?
    /// True if the provider can set the avatar.
    public var isEditable = false

    /// Creates a profile with only names.
    public init(username: String, name: String) {
        self.username = username
        self.name = name
    }
}
