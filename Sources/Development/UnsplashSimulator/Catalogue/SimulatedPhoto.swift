package import ServiceSimulator

/// A photo of the simulated service.
package struct SimulatedPhoto: Identifiable, Sendable {
    /// Eleven letters, digits, `-` or `_`, in any position.
    package let id: String
    /// The username of the photographer.
    package var owner: String
    package var created: Moment
    package var updated: Moment
    package var promoted: Moment?
    package var width: Int
    package var height: Int
    /// `#rrggbb`.
    package var color: String?
    package var blurHash: String?
    package var description: String?
    package var alternativeDescription: AlternativeDescription
    /// The path of the image, with a leading slash.
    package var imagePath: String
    /// The number of other users that like the photo.
    package var otherLikes: Int
    package var views: Int
    package var downloads: Int
    package var tags: [String]
    package var camera: Camera?
    package var place: Place?
    /// The slugs of the topics that have accepted the photo.
    package var topics: [String]
    package var kind = Kind.photo
    /// The user name of the sponsor, which is also the photographer's.
    package var sponsor: String?
    /// True for a photo of the paid plan: `plus` and `premium` are true, and the images have a watermark.
    package var isPlus = false
    /// True if responses contain the likes of this photo.
    package var hasLikes = true
    /// True if dates have an offset, as until 2021; false if they are UTC.
    package var hasOffsetDates = false

    package enum Kind: String, Sendable {
        case photo
        case illustration
    }

    /// The value of `alt_description`, which may be null, or absent in old responses.
    package enum AlternativeDescription: Hashable, Sendable {
        case text(String)
        case null
        case absent
    }

    package struct Camera: Sendable {
        package var make: String
        package var model: String
        package var exposureTime: String
        package var aperture: String
        package var focalLength: String
        package var sensitivity: Int
    }

    package struct Place: Sendable {
        package var name: String?
        package var city: String?
        package var country: String?
        /// Both are 0 if the place is unknown.
        package var latitude: Double
        package var longitude: Double
    }

    /// The slug in `links.html`: words and the ID.
    package var slug: String {
        guard case .text(let text) = alternativeDescription else { return id }
        let words = text.lowercased().split { !$0.isLetter && !$0.isNumber }
        return words.joined(separator: "-") + "-" + id
    }

    func date(_ moment: Moment) -> JSON {
        .string(hasOffsetDates ? moment.eastern : moment.utc)
    }
}
