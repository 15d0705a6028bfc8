package import ServiceSimulator

/// Somebody who has an account on the simulated server.
package struct SimulatedPerson: Sendable {
    package let id: String
    package internal(set) var username: String
    package var displayName: String
    /// HTML.
    package var note = "<p>I take photos &amp; walk.</p>"
    package var hasPicture = true
    /// The newest like first. Its number is what lists of likes are paged by.
    var likes: [(status: SimulatedStatus.ID, number: Int)] = []
}

/// A status of the simulated server.
package struct SimulatedStatus: Identifiable, Sendable {
    package let id: String
    package var author: String
    package var created: Moment
    /// HTML.
    package var content: String
    package var attachments: [Attachment]
    package var isSensitive = false
    package var warning = ""
    /// The status that this one passes on.
    package var boosts: SimulatedStatus.ID?
    /// `hide` or `warn`, where a filter of the reader's meets it.
    package var filterAction: String?
    /// How many others like it.
    package var otherLikes = 0
    package var tag = "photography"

    package struct Attachment: Sendable {
        package let id: String
        /// `image`, `video`, `gifv`, `audio`, `unknown`.
        package var kind = "image"
        package var description: String?
        package var width = 1280
        package var height = 853
        package var blurHash: String? = "UvBEOP$%r9ofroa#bef$R5Wnb^ahVua#buf5"
        package var hasMeta = true
        var color = "#40260c"
    }

    /// What its pictures are called by a client that follows the ids of the API.
    package var photos: [String] {
        attachments.filter { $0.kind == "image" }.map { "\(id).\($0.id)" }
    }
}
