internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit

/// `org.imagefeed.ImageFeed1.Like`.
extension AccountObject {
    static let likeInterface = BusInterface<AccountObject>(
        versioned: .like,
        [
            .asyncMethod("Like", in: ["photo"], out: ["outcome"]) {
                (object: AccountObject, photo: String) -> String in
                try await object.account.setLiked(photo, true).rawValue
            },
            .asyncMethod("Unlike", in: ["photo"], out: ["outcome"]) {
                (object: AccountObject, photo: String) -> String in
                try await object.account.setLiked(photo, false).rawValue
            },
            .asyncMethod("Toggle", in: ["photo"], out: ["liked", "outcome"]) {
                (object: AccountObject, photo: String) -> (Bool, String) in
                let (isLiked, outcome) = try await object.account.toggleLike(photo)
                return (isLiked, outcome.rawValue)
            },
            .signal("Changed", ["photo", "liked", "likes"], String.self, Bool.self, UInt32.self),
            .signal(
                "Failed", ["photo", "wanted", "error", "message"], String.self, Bool.self,
                String.self, String.self),
            .property("Pending") { $0.account.pendingLikes.map(\.text) },
            .property("Count") { UInt32(clamping: $0.account.likeCount) },
        ])
}
