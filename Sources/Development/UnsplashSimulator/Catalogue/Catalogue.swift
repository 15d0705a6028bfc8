/// The contents of the simulated service: users, photos, topics, collections.
package struct Catalogue: Sendable {
    package internal(set) var users: [String: SimulatedUser] = [:]
    package internal(set) var photos: [SimulatedPhoto.ID: SimulatedPhoto] = [:]
    /// The editorial feed, newest first.
    package internal(set) var feed: [SimulatedPhoto.ID] = []
    package internal(set) var topics: [SimulatedTopic] = []
    package internal(set) var collections: [SimulatedCollection] = []
    /// Photos that their authors have deleted: lists may still contain them, but their images are gone.
    package internal(set) var deleted: Set<SimulatedPhoto.ID> = []

    /// Returns the photos with these IDs, in order.
    func photos(_ ids: [SimulatedPhoto.ID]) -> [SimulatedPhoto] { ids.compactMap { photos[$0] } }

    /// Returns the photo with an ID, or with a slug, which ends with the ID.
    func photo(_ name: String) -> SimulatedPhoto? {
        let photo = photos[name] ?? photos[String(name.suffix(11))]
        return photo.flatMap { deleted.contains($0.id) ? nil : $0 }
    }

    func collections(of username: String) -> [SimulatedCollection] {
        collections.filter { $0.owner == username }
    }

    /// Returns the number of users that like a photo.
    func likes(of photo: SimulatedPhoto) -> Int {
        photo.otherLikes + users.values.count { $0.likes.contains(photo.id) }
    }

    /// Adds a photo at the top of the feed.
    mutating func publish(_ photo: SimulatedPhoto) {
        photos[photo.id] = photo
        feed.removeAll { $0 == photo.id }
        feed.insert(photo.id, at: 0)
        for index in topics.indices where photo.topics.contains(topics[index].slug) {
            topics[index].photos.insert(photo.id, at: 0)
        }
    }

    /// Removes a photo from the feed and the topics; likes and collections keep its ID.
    mutating func delete(_ id: SimulatedPhoto.ID) {
        deleted.insert(id)
        feed.removeAll { $0 == id }
        for index in topics.indices { topics[index].photos.removeAll { $0 == id } }
    }
}
