/// How the simulated service behaves, as far as a test may choose.
package struct Settings: Sendable {
    /// The redirect addresses that the application has registered, compared as strings.
    package var redirectURIs = ["urn:ietf:wg:oauth:2.0:oob"]
    /// What is left of likes.
    package var likes = LikeSupport.available
    /// Taking a like back is answered by 204 and nothing, as documented, or by 200 and the photo, as recorded.
    package var unlikeAnswerIsEmpty = false
    package var tokenShape = TokenShape.current
    /// After how long access tokens expire; nil is never. Those that do come with `expires_in`.
    package var tokenLifetimeSeconds: Int?
    /// Requests of an hour, all users together.
    package var requestsPerHour = 1000
    /// Answers come from a cache for those who asked before: with `Age`, and as old as they are. What has
    /// been cached is dropped when this is set to false.
    package var answersAreCached = false

    package enum TokenShape: Sendable {
        /// As documented: token, type `bearer`, scope, time.
        case documented
        /// As clients have seen it since 2024: type `Bearer`, with refresh token, number and name of the user.
        case current
    }
}
