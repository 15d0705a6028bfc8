internal import FoundationEssentials
internal import ServiceSimulator

/// Writes what the service has as JSON, for one who asks.
struct DocumentWriter {
    let catalogue: Catalogue
    let origins: Origins
    /// The username behind the token; nil for an application that asks for itself.
    let viewer: String?
    let likes: LikeSupport
    let now: Moment

    /// Where an answer shows a photo: goes into `ixid`.
    enum Place {
        case detail
        case list(position: Int)
        case random
        case search(position: Int, query: String)
    }

    /// What images and `download_location` carry, so that the service knows who shows what where.
    ///
    /// Source: recorded addresses, decoded: version, application, whether it is paid for, feed, position,
    /// search, language, time.
    func ixid(_ photo: SimulatedPhoto, _ place: Place) -> String {
        let paid = photo.sponsor == nil ? 0 : 1
        let text =
            switch place {
            case .detail: "3|683727|\(paid)|1|all||||||||||\(now.secondsSince1970)|"
            case .list(let position):
                "3|683727|\(paid)|1|all|\(position)||||||||\(now.secondsSince1970)|"
            case .random: "3|683727|\(paid)|1|random|||||||||\(now.secondsSince1970)|"
            case .search(let position, let query):
                "3|683727|\(paid)|1|search|\(position)||\(query)|en|0||||\(now.secondsSince1970)|0"
            }
        return Data(text.utf8).base64EncodedString()
            .replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
    }
}

/// Where the parts of the service are.
struct Origins: Sendable {
    var api = ""
    var web = ""
    var images = ""
    var storage = ""
    var stranger = ""
}

/// How much is left of likes, which the service has begun to take out of what it documents.
package enum LikeSupport: Hashable, Sendable {
    case available
    /// Answers tell about likes; the endpoints of likes have this status: 403, 404, 410.
    case refused(status: Int)
    /// Neither endpoints nor fields.
    case absent
}
