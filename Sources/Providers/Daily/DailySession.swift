internal import ProviderKit
internal import Quoting
internal import Translation
internal import WebService

/// The session of the account. It stores only the first page, for an hour.
///
/// A page has the pictures of ``daysPerPage`` days. Its token is the first of these days, which is the latest one.
final class DailySession: ServiceSession, RemoteLikes, RemoteImages {
    let connection: ServiceConnection<CommonsClient>
    let likesSource = SourceID("likes")
    let hasLocalLikes = true
    let hasStablePageTokens = true
    private let ports: SessionPorts
    /// The first page. Its files are not fetched again while the templates name the same files: a refresh then takes one
    /// request in place of three.
    private let firstPage: TimedCache<(templates: [CommonsClient.Template], photos: [RemotePhoto])>

    private static let source = SourceID("all")
    static let daysPerPage = 30

    init(_ ports: SessionPorts) {
        self.ports = ports
        firstPage = TimedCache(.seconds(3600), now: ports.now)
        connection = ServiceConnection { _ throws(ProviderError) in try CommonsClient(ports) }
    }

    // MARK: Sources

    func accepts(_ source: SourceID) -> Bool { source == Self.source || source == likesSource }

    func sources() async throws -> [Source] {
        [
            Source(id: Self.source, title: Message("Pictures of the day"), kind: .feed),
            Source(id: likesSource, title: Message("Liked pictures"), kind: .likes),
        ]
    }

    // MARK: Pictures

    @concurrent
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        let client = try client
        guard accepts(source) else {
            throw ProviderError.notFound(
                Message(
                    "There is no source {source} of pictures of the day.",
                    ["source": source.text.quoted]))
        }
        // The likes are stored locally.
        guard source == Self.source else { return RemotePage([]) }
        let latest: Day
        if let pageToken {
            guard let day = Day(pageToken) else { throw ProviderError.staleCursor }
            latest = day
        } else {
            latest = Day(ports.now())
        }
        let days = (0..<Self.daysPerPage).map { latest - $0 }.filter { $0 >= .first }
        guard let last = days.last else { throw Self.wrongDate }
        guard let templates = try await client.templates(of: days) else {
            if pageToken == nil { throw Self.wrongDate }
            return RemotePage([])
        }
        let next = last > .first ? (last - 1).text : nil
        guard pageToken == nil else {
            return RemotePage(try await fetchPhotos(templates), next: next)
        }
        let page = try await firstPage.value(
            where: { $0.templates.elementsEqual(templates, by: ==) },
            fetch: { (templates, try await fetchPhotos(templates)) })
        return RemotePage(page.photos, next: next)
    }

    private func fetchPhotos(_ templates: [CommonsClient.Template]) async throws -> [RemotePhoto] {
        guard !templates.isEmpty else { return [] }
        let client = try client
        let files = try await client.files(of: templates.map(\.day))
        return templates.compactMap { template in
            files[template.title].flatMap { client.mapping.photo($0, of: template.day) }
        }
    }

    private static let wrongDate = ProviderError.failed(
        Message(
            "Wikimedia Commons has no pictures of the last {days} days; check the date of this computer.",
            ["days": "\(daysPerPage)"]))

    @concurrent
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        guard let photo = try await fetchPhotos([id]).first else {
            throw ProviderError.notFound(
                Message("There is no picture of the day {photo}.", ["photo": id.text.quoted]))
        }
        return photo
    }

    func fetchPhotos(_ ids: [PhotoID]) async throws -> [RemotePhoto] {
        let client = try client
        let pictures = ids.compactMap(\.picture).prefix(CommonsClient.pagesPerRequest)
        guard !pictures.isEmpty else { return [] }
        let files = try await client.files(pages: Array(Set(pictures.map(\.page))).sorted())
        return pictures.compactMap { picture in
            files[picture.page].flatMap { client.mapping.photo($0, of: picture.day) }
        }
    }

    // MARK: Images

    var imageClient: any HTTPClient { CommonsClient.images(ports.http) }

    // MARK: Likes

    /// Not called, because likes are stored locally.
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        throw ProviderError.denied(Message("Wikimedia Commons has no likes."))
    }
}
