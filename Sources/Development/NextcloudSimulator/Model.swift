package import ServiceSimulator

/// A version of the server. The comments state the differences that the simulator has.
package enum Version: String, CaseIterable, Sendable {
    /// No properties of the app Photos.
    case v27 = "27.1.11"
    /// No condition `is-defined`.
    case v28 = "28.0.14"
    /// A TypeError for each condition about metadata: nextcloud/server #45253.
    case v29 = "29.0.11"
    /// Albums do not state the paths of the user's own photos.
    case v31 = "31.0.2"
    case v35 = "35.0.0"

    package var hasMetadata: Bool { self != .v27 }
    var statesOriginalPaths: Bool { self == .v35 }
}

/// A user of the simulated server.
package struct SimulatedUser: Sendable {
    /// The ID, which is part of paths.
    package let id: String
    /// The name that the login returns; it may be an email address.
    package var loginName: String
    package var displayName: String
    package var biography = ""
    /// True if the administrator disabled the account.
    package var isDisabled = false
}

/// A file of the simulated server.
package struct SimulatedFile: Sendable {
    package let id: Int
    /// The path below the files of the user, not encoded.
    package var path: String
    package var mediaType = "image/jpeg"
    /// The time of the last change.
    package var modified: Moment
    /// The capture date; nil if the server has not read the file yet.
    package var taken: Moment?
    /// The only user with access to the file; nil for all users.
    package var owner: String?
    package var width: Int? = 640
    package var height: Int? = 480
    package var make: String? = "FUJIFILM"
    package var model: String? = "X-T5"
    package var latitude: Double?
    package var longitude: Double?
    package var blurHash: String? = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
    package var hasPreview = true
    package var sizeBytes = 2_000_000
    /// True if the server draws no preview although it can draw the format: `preview_max_filesize_image`.
    package var isTooLargeForPreview = false
    /// True if the user may not change the favourite.
    package var isProtected = false

    /// The time by which photos are ordered.
    var time: Moment { taken ?? modified }
    /// The name of the file.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }
}

/// An album of the simulated server.
package struct SimulatedAlbum: Sendable {
    package let name: String
    package var files: [Int]
    /// True if another user shares the album.
    package var isShared = false
}

/// A login that a client has started.
struct LoginFlow: Sendable {
    let pollToken: String
    let loginToken: String
    /// The ID of the user after the confirmation; nil until then.
    var user: String?
}
