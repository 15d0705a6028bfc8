/// The outcome of a like or unlike. The raw values are those of the D-Bus interface `Like`.
package enum LikeOutcome: String, CaseIterable, Sendable {
    /// The service confirmed it.
    case done
    /// Stored and delivered later, because the network is unavailable or the service limits requests.
    case queued
    /// Stored locally, because the service has no likes.
    case local
}
