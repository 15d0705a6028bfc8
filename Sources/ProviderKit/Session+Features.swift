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
    /// Nil.
    public var avatarSession: (any AvatarSession)? { nil }
    /// Nil.
    public var feedSession: (any FeedSession)? { nil }
    /// Nil.
    public var imageSession: (any ImageSession)? { nil }
    /// Nil.
    public var likeSession: (any LikeSession)? { nil }
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

extension AvatarSession {
    /// The session.
    public var avatarSession: (any AvatarSession)? { self }
}

extension FeedSession {
    /// The session.
    public var feedSession: (any FeedSession)? { self }
}

extension ImageSession {
    /// The session.
    public var imageSession: (any ImageSession)? { self }
}

extension LikeSession {
    /// The session.
    public var likeSession: (any LikeSession)? { self }
}
