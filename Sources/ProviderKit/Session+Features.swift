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
