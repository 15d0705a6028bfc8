package import ProviderKit

/// The wanted state of a like group, and its way to the service.
nonisolated package struct OutboxRow: Hashable, Sendable {
    /// The position of a row on the way to the service.
    package enum State: String, Sendable {
        /// Stored. No request was sent, or the service did not execute it.
        case queued
        /// A request was sent, or is about to be sent: the state at the service is unknown until a response.
        case sending
        /// The service confirmed the wanted state. The row is shown in place of the cache, until the cache and the service
        /// agree with it.
        case confirmed
        /// The service has no likes. The row is the only record of the like or unlike.
        case local
    }

    /// The photo that represents the like group.
    package let photo: PhotoID
    /// True for a like, false for an unlike.
    package var isWanted: Bool
    package var state = State.queued
    /// The last state that the service confirmed, if the cache or a list of the service may be older; nil if the cache is
    /// right.
    package var known: Bool?
    /// The time of the confirmation of ``known``.
    package var confirmed: Timestamp?
    /// The order of the rows of an account.
    package var position: Int64

    // The following properties are not stored.

    /// The number of the confirmation of ``known`` within the session; 0 for one of an earlier session.
    package var confirmation = 0
    /// True if the cache has ``known``.
    package var isInCache = false
    /// True if an answer of the service had ``known``: the row only corrects answers to earlier requests.
    package var isAgreed = false
    /// True if the database has the state ``State/sending``, or does not need it.
    package var isMarked = false
    /// True while a local like is sent again: the cache has ``isWanted``.
    package var isRetried = false
    /// False if the photo has to be fetched before its like is sent, because the cache does not have it.
    package var isPhotoKnown = true

    /// True while the service has not confirmed the wanted state.
    package var isPending: Bool { state == .queued || state == .sending }
    /// True if the database does not need the row.
    var isSettled: Bool { state == .confirmed && isAgreed }
    /// The state that is shown in place of the cached one; nil if the cached one is shown.
    var shown: Bool? { state == .local || isRetried ? isWanted : known }
}
