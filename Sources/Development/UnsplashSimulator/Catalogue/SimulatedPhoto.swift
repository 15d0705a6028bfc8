package import ServiceSimulator

/// A photo of the simulated service.
package struct SimulatedPhoto: Identifiable, Sendable {
    /// Eleven letters, digits, `-` or `_`, which may come first.
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
    /// The path of the image, with its slash.
    package var imagePath: String
    /// How many other users like it.
    package var otherLikes: Int
    package var views: Int
    package var downloads: Int
    package var tags: [String]
    package var camera: Camera?
    package var place: Place?
    /// The slugs of the topics that have accepted it.
    package var topics: [String]
    package var kind = Kind.photo
    /// The username of who pays for showing it; the photographer too.
    package var sponsor: String?
    /// Belongs to the paid part: `plus` and `premium` are true, and its images bear a watermark.
    package var isPlus = false
    /// Whether answers tell about likes of this photo.
    package var hasLikes = true
    /// Whether dates come with an offset, as they did until 2021, or as UTC.
    package var hasOffsetDates = false

    package enum Kind: String, Sendable {
        case photo
        case illustration
    }

    /// `alt_description`, which may be null, and in old answers absent.
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
        /// Both 0 where it is not known.
        package var latitude: Double
        package var longitude: Double
    }

    /// What `links.html` names: words and the id.
    package var slug: String {
        guard case .text(let text) = alternativeDescription else { return id }
        let words = text.lowercased().split { !$0.isLetter && !$0.isNumber }
        return words.joined(separator: "-") + "-" + id
    }

    func date(_ moment: Moment) -> JSON {
        .string(hasOffsetDates ? moment.eastern : moment.utc)
    }
}
