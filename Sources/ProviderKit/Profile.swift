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
