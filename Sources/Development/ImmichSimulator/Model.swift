package import ServiceSimulator

/// A user of the simulated server.
package struct SimulatedUser: Sendable {
    package let id: String
    package let name: String
    package var email: String
    package var password: String
    package var hasAvatar = true

    init(id: String, name: String) {
        self.id = id
        self.name = name
        email = "\(name)@photos.test"
        password = "password of \(name)"
    }
}

/// A photo or video of the simulated server.
package struct SimulatedAsset: Sendable {
    package let id: String
    /// The time at which the photo was taken.
    package var created: Moment
    /// The only user with access to the asset; nil for all users.
    package var owner: String?
    /// `IMAGE` or `VIDEO`.
    package var kind = "IMAGE"
    package var fileName = "Fog.jpg"
    package var mediaType = "image/jpeg"
    /// The size of the file, before the orientation is applied.
    package var width = 640
    package var height = 480
    /// The EXIF orientation.
    package var orientation = 1
    package var thumbHash: String? = "1QcSHQRnh493V4dIh4eXh1h4kJUI"
    package var description = ""
    package var camera: String? = "X-T5"
    package var latitude: Double?
    package var longitude: Double?
    package var isOnTimeline = true
    package var isEdited = false
}

/// A stack of the simulated server: the primary asset, and the others.
package struct SimulatedStack: Sendable {
    let primary: String
    let assets: [String]
}

/// An album of the simulated server.
package struct SimulatedAlbum: Sendable {
    package let id: String
    package let name: String
    package var assets: [String]
    /// True if another user shares the album.
    package var isShared = false
}

/// A person of the simulated server.
package struct SimulatedPerson: Sendable {
    package let id: String
    package let name: String
    package var assets: [String]
}

/// An API key.
struct SimulatedKey: Sendable {
    let user: String
    /// nil for all permissions.
    var permissions: Set<String>?
}
