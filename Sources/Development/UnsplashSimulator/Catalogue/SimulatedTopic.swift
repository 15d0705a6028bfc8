/// A subject that photos are submitted to.
package struct SimulatedTopic: Sendable {
    package let id: String
    package let slug: String
    package var title: String
    package var description: String
    /// The newest first.
    package var photos: [SimulatedPhoto.ID] = []
}

/// Photos that a user has put together.
package struct SimulatedCollection: Sendable {
    /// A number, as a string since 2020.
    package let id: String
    package var title: String
    package var owner: String
    /// The last one added first.
    package var photos: [SimulatedPhoto.ID] = []
}
