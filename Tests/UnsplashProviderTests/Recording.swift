import ProviderKit
import TestSupport

/// Recorded responses of the real service: see `Recordings/SOURCES.md`.
enum Recording {
    private static let recordings = Recordings(beside: #filePath)

    /// The recordings with a list of photos.
    static let lists = [
        "photos_list_2019_page1_promoted_at", "photos_list_2021_page1_prod",
        "photos_list_latest_page1", "user_likes_page1", "collection_photos_2021",
    ]

    static func body(_ name: String, _ ending: String = "json") throws -> [UInt8] {
        try recordings.body(name, ending)
    }

    static func response(_ name: String, _ ending: String = "json") throws -> HTTPResponse {
        try recordings.response(name, ending)
    }
}
