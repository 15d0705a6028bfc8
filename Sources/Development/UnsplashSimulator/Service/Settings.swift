/// The behaviour of the simulated service.
package struct Settings: Sendable {
    /// The registered redirect addresses of the application, compared as text.
    package var redirectURIs = ["urn:ietf:wg:oauth:2.0:oob"]
    /// The support for likes.
    package var likes = LikeSupport.available
    /// True if an unlike has an empty response with status 204, as documented; false for 200 with the photo, as
    /// recorded.
    package var hasEmptyUnlikeReply = false
    package var tokenShape = TokenShape.current
    /// The lifetime of access tokens, which adds `expires_in`; nil if they do not expire.
    package var tokenLifetimeSeconds: Int?
    /// The number of requests per hour, for all users together.
    package var requestsPerHour = 1000
    /// True if repeated requests receive cached responses, with `Age` and old contents. Setting it to false empties the
    /// cache.
    package var cachesReplies = false

    package enum TokenShape: Sendable {
        /// The documented members: token, type `bearer`, scope, time.
        case documented
        /// The members since 2024, as observed by clients: type `Bearer`, refresh token, number and name of the user.
        case current
    }
}
