package import ServiceSimulator

/// A user of the simulated service.
package struct SimulatedUser: Sendable {
    /// Eleven characters, like the IDs of photos.
    package let id: String
    /// The number in the token response.
    package let numericID: Int
    package internal(set) var username: String
    package var firstName: String
    package var lastName: String?
    package var biography: String?
    package var location: String?
    package var portfolioURL: String?
    package var twitterUsername: String?
    package var instagramUsername: String?
    /// True if the profile has an avatar, false for a placeholder.
    package var hasAvatar = true
    package var updated: Moment
    /// The photos that this user likes, newest like first.
    package internal(set) var likes: [SimulatedPhoto.ID] = []

    package var name: String { lastName.map { "\(firstName) \($0)" } ?? firstName }
}
