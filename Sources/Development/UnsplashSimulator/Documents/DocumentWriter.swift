internal import FoundationEssentials
internal import ServiceSimulator

/// Writes the data of the service as JSON, as one client receives it.
struct DocumentWriter {
    let catalogue: Catalogue
    let origins: Origins
    /// The user name of the token; nil for a request with the client ID alone.
    let viewer: String?
    let likes: LikeSupport
    let now: Moment
    private let authors = Authors()

    /// The photos of all users, which are sorted once per response: each photo of a list contains its author, with totals.
    private final class Authors {
        var photos: [String: [SimulatedPhoto]]?
    }

    /// Returns the photos of a user, newest first.
    func photos(of username: String) -> [SimulatedPhoto] {
        let photos =
            authors.photos
            ?? Dictionary(grouping: catalogue.photos(catalogue.feed), by: \.owner)
        authors.photos = photos
        return photos[username] ?? []
    }

    /// The context in which a response shows a photo; part of `ixid`.
    enum Place {
        case detail
        case list(position: Int)
        case random
        case search(position: Int, query: String)
    }

    /// Returns the parameter of images and `download_location` by which the service counts views.
    ///
    /// Source: recorded addresses, decoded: version, application, sponsored or not, feed, position, search, language,
    /// time.
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

/// The origins of the hosts.
struct Origins: Sendable {
    var api = ""
    var web = ""
    var images = ""
    var storage = ""
    var unrelated = ""
}

/// The support for likes, which the service has begun to remove from its documentation.
package enum LikeSupport: Hashable, Sendable {
    case available
    /// Responses contain likes; the like endpoints have this status: 403, 404 or 410.
    case refused(status: Int)
    /// Neither endpoints nor fields exist.
    case absent
}
