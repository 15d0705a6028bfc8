package import ServiceSimulator

/// A user of the simulated server.
package struct SimulatedUser: Sendable {
    package let id: String
    package internal(set) var username: String
    package var displayName: String
    /// HTML.
    package var note = "<p>I take photos &amp; walk.</p>"
    package var hasAvatar = true
    /// The likes, newest first. Lists of likes are paged by their numbers.
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
    /// The boosted status.
    package var boosts: SimulatedStatus.ID?
    /// The action of a filter of the user that matches the status: `hide` or `warn`.
    package var filterAction: String?
    /// The number of other users that like the status.
    package var otherLikes = 0
    package var tag = "photography"
    package var visibility = "public"

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

        /// The ID at a server with snac.
        var snacID: String { "https://photos.test/lin/p/\(id)_0" }

        /// The hash of ``snacID``: FNV-1a with 64 bits, as 16 hexadecimal digits.
        var snacIDHash: String {
            let hash = snacID.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01b3
            }
            let digits = String(hash, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
    }

    /// Returns the IDs of the photos, as the client forms them from the IDs of the API.
    package func photos(_ software: Software = .mastodon) -> [String] {
        attachments.filter { $0.kind == "image" }
            .map { "\(id).\(software == .snac ? $0.snacIDHash : $0.id)" }
    }
}
