internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Like` of the combined account.
extension CombinedObject {
    static let likeInterface = BusInterface<CombinedObject>(
        versioned: .like,
        [
            .asyncMethod("Like", in: ["photo"], out: ["outcome"]) {
                (object: CombinedObject, photo: String) -> String in
                try await object.feed.setLiked(photo, true).rawValue
            },
            .asyncMethod("Unlike", in: ["photo"], out: ["outcome"]) {
                (object: CombinedObject, photo: String) -> String in
                try await object.feed.setLiked(photo, false).rawValue
            },
            .asyncMethod("Toggle", in: ["photo"], out: ["liked", "outcome"]) {
                (object: CombinedObject, photo: String) -> (Bool, String) in
                let (isLiked, outcome) = try await object.feed.toggleLike(photo)
                return (isLiked, outcome.rawValue)
            },
            .signal("Changed", ["photo", "liked", "likes"], String.self, Bool.self, UInt32.self),
            .signal(
                "Failed", ["photo", "wanted", "error", "message"], String.self, Bool.self,
                String.self, String.self),
            .property("Pending") { $0.feed.pendingLikes.map(\.text) },
            .property("Count") { UInt32(clamping: $0.feed.likeCount) },
        ])
}
