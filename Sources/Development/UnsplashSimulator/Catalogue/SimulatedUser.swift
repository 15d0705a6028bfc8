package import ServiceSimulator

/// Somebody who has an account with the simulated service.
package struct SimulatedUser: Sendable {
    /// Eleven characters, as photos have them.
    package let id: String
    /// The number that a token names.
    package let numericID: Int
    package internal(set) var username: String
    package var firstName: String
    package var lastName: String?
    package var biography: String?
    package var location: String?
    package var portfolioURL: String?
    package var twitterUsername: String?
    package var instagramUsername: String?
    /// Whether the profile has a picture of its own; else it shows a placeholder.
    package var hasPicture = true
    package var updated: Moment
    /// The photos that this user likes, the newest like first.
    package internal(set) var likes: [SimulatedPhoto.ID] = []

    package var name: String { lastName.map { "\(firstName) \($0)" } ?? firstName }
}
