/// The person an account belongs to.
public struct Profile: Hashable, Sendable {
    public var username: String
    /// The stable ID of the user at the service, as in ``AccountIdentity/userID``; nil if the service names none.
    public var userID: String?
    /// The name to show.
    public var name: String
    public var bio = ""
    public var location = ""
    public var url = ""
    /// The path of a local image file; empty where there is none.
    public var avatar = ""
    /// The address of the avatar at the service; the engine fetches it.
    public var avatarURL = ""
    /// How many photos the person likes; nil where the service does not say.
    public var likes: Int?
    /// Whether the avatar can be set from here.
    public var isEditable = false

    public init(username: String, name: String) {
        self.username = username
        self.name = name
    }
}
