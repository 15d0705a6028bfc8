package import DBus

/// A signal of the photos and likes of an account.
package enum ServiceEvent {
    /// Photos were added at the top of a source, or removed from it.
    case updated(source: String, new: UInt32)
    /// Photos changed; each with its ID and the changed entries.
    case photosChanged([(id: String, changes: [String: Variant])])
    case photosRemoved([String])
    /// A like or unlike was confirmed, or the service reports another liked state.
    case likeChanged(photo: String, isLiked: Bool, likes: UInt32)
    /// A like or unlike was refused.
    case likeFailed(photo: String, isWanted: Bool, error: String, message: String)
    /// The token of an account that is removed may remain in the keyring, or remain valid at the service.
    case tokenRemains(message: String)

    /// Reads a signal; nil for others, and for one with the arguments of another version.
    package init?(_ signal: BusMessage) {
        do {
            switch (signal.interface, signal.member) {
            case (.feed, .updated):
                let (source, new): (String, UInt32) = try signal.read()
                self = .updated(source: source, new: new)
            case (.feed, .photoChanged):
                let (photo, changes): (String, [String: Variant]) = try signal.read()
                self = .photosChanged([(photo, changes)])
            case (.feed, .photosChanged):
                let photos: [[String: Variant]] = try signal.read()
                self = .photosChanged(
                    photos.compactMap { photo in
                        photo["id"]?.string.map { id in
                            (id, photo.filter { !["id", "account"].contains($0.key) })
                        }
                    })
            case (.feed, .photosRemoved): self = .photosRemoved(try signal.read())
            case (.like, .changed):
                let (photo, isLiked, likes): (String, Bool, UInt32) = try signal.read()
                self = .likeChanged(photo: photo, isLiked: isLiked, likes: likes)
            case (.like, .failed):
                let (photo, isWanted, error, message): (String, Bool, String, String) =
                    try signal.read()
                self = .likeFailed(photo: photo, isWanted: isWanted, error: error, message: message)
            case (.account, .tokenRemains): self = .tokenRemains(message: try signal.read())
            default: return nil
            }
        } catch {
            return nil
        }
    }
}
