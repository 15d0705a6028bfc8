/// A topic, to which photos are submitted.
package struct SimulatedTopic: Sendable {
    package let id: String
    package let slug: String
    package var title: String
    package var description: String
    /// Newest first.
    package var photos: [SimulatedPhoto.ID] = []
}

/// A collection of photos that a user has selected.
package struct SimulatedCollection: Sendable {
    /// A number, as a string since 2020.
    package let id: String
    package var title: String
    package var owner: String
    /// Most recently added first.
    package var photos: [SimulatedPhoto.ID] = []
}
