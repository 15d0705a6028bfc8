/// The person an account belongs to.
public struct Profile: Hashable, Sendable {
    public var username: String
    /// The name to show.
    public var name: String
    public var bio = ""
    public var location = ""
    public var url = ""
    /// The path of a local image file; empty where there is none.
    public var avatar = ""
    /// Whether the avatar can be set from here.
    public var isEditable = false

    public init(username: String, name: String) {
        self.username = username
        self.name = name
    }
}
