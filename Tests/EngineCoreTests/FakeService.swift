import ProviderKit
import TestSupport

/// A remote service in memory, whose photos and failures a test sets.
final class FakeService: OAuthLogin {
    struct State: Sendable {
        /// The user name and the stable ID of the user of every token.
        var username = "ada"
        var userID: String?
        /// The photos of the service, newest first.
        var photos: [String] = []
        var liked: Set<String> = []
        /// The photos that pages omit.
        var hidden: Set<String> = []
        /// The settings that affect pages.
        var cacheVariant = ""
        /// The errors of the pages of sources.
        var pageErrors: [String: ProviderError] = [:]
        /// The page tokens that the service rejects.
        var rejectedTokens: Set<String> = []
        /// The listed sources.
        var sources = ["new"]
        /// The sizes of images with an address; photos without them have only the size `full`.
        var imageSizes: [ImageSize] = [.full]
        /// The notices of the next page.
        var notices: [String]?
        /// The number of photos in a page.
        var pageSize = 3
        /// The error of every request.
        var error: (any Error & Sendable)?
        /// The error of requests to like or unlike.
        var likeError: (any Error & Sendable)?
        /// A photo whose likes fail temporarily.
        var failingPhoto: String?
        /// A photo whose likes the service refuses.
        var refusedPhoto: String?
        var avatarURL = ""
        /// The total that every page reports.
        var total: Int?
        /// The keys of the entries; nil for a service without keys. With keys, each element of ``photos`` is an entry,
        /// and a photo may have several.
        var keys: [Int]?
        /// True if the service is still collecting the entries with keys, and has only the first page of them.
        var isPartial = false
        /// The sources of which every response is empty.
        var emptied: Set<String> = []
        /// True if a page token names the photo before the page.
        var hasStablePageTokens = false
        /// True if the service never has likes.
        var hasLocalLikes = false
        /// The number of likes in the profile.
        var likeTotal: Int?
        /// True if likes succeed and their responses are lost.
        var losesResponses = false
        /// The requests to the service, as text.
        var requests: [String] = []
        /// True while all responses are held.
        var isHeld = false
        /// The requests whose responses are held.
        var held: Set<String> = []
        /// The held requests whose task was cancelled.
        var cancelled: [String] = []
    }

    let state = Observed(State())
    let registrationHelp = "Register it."
    let info: ProviderInfo

    init(_ id: String = "service") {
        info = ProviderInfo(
            id: id, name: "Service", iconName: "image", authentication: .oauth2,
            capabilities: [.feed, .like, .profile], defaultSource: SourceID("new"))
    }

    func oauth(_ settings: ProviderSettings) throws(ProviderError) -> OAuthDescription {
        OAuthDescription(
            authorizationURL: "https://service.test/authorize",
            tokenURL: "https://service.test/token", scopes: ["public"],
            tokenOrigins: ["https://api.service.test"])
    }

    func identify(_ ports: SessionPorts) async throws -> AccountIdentity {
        AccountIdentity(username: state.value.username, userID: state.value.userID)
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        FakeServiceSession(state)
    }
}

final class FakeServiceSession: RemoteLikes, ProfileSession, ManualSession {
    let state: Observed<FakeService.State>
    let channel = AsyncStream<SessionEvent>.makeStream()
    let likesSource = SourceID("likes")

    init(_ state: Observed<FakeService.State>) { self.state = state }

    var cacheVariant: String { state.value.cacheVariant }

    var hasStablePageTokens: Bool { state.value.hasStablePageTokens }
    var hasLocalLikes: Bool { state.value.hasLocalLikes }

    func accepts(_ source: SourceID) -> Bool {
        ["new", "other", "likes"].contains(source.text) || source.text.hasPrefix("topic")
    }

    func sources() async throws -> [Source] {
        try await receive("sources")
        return state.value.sources.map { Source(id: SourceID($0), title: "New", kind: .feed) }
    }

    func fetchPage(_ source: SourceID, from place: String?) async throws -> RemotePage {
        try await receive("\(source) \(place ?? "top")")
        let state = state.value
        if let notices = state.notices { continuation.yield(.notices(notices)) }
        if let error = state.pageErrors[source.text] { throw error }
        if let place, state.rejectedTokens.contains(place) { throw ProviderError.staleCursor }
        let all = source == likesSource ? state.photos.filter(state.liked.contains) : state.photos
        // As with page numbers, photos that arrive meanwhile move the others down.
        if state.emptied.contains(source.text) { return RemotePage([]) }
        if let keys = state.keys, source != likesSource {
            return keyedPage(state, keys, below: place.flatMap { Int($0) })
        }
        let start =
            place.flatMap { place in
                Int(place) ?? all.firstIndex { "after \($0)" == place }.map { $0 + 1 }
            } ?? 0
        let end = min(all.count, start + state.pageSize)
        guard start < end else { return RemotePage([]) }
        let shown = all[start..<end].filter { !state.hidden.contains($0) }
        let next = state.hasStablePageTokens ? "after \(all[end - 1])" : "\(end)"
        return RemotePage(
            shown.map { remote($0, state) }, next: end < all.count ? next : nil,
            total: state.total)
    }

    /// Returns a page of entries with keys, as in a timeline.
    private func keyedPage(
        _ state: FakeService.State, _ keys: [Int], below upper: Int?
    ) -> RemotePage {
        let isMissing = state.isPartial && upper != nil
        let entries = zip(keys, state.photos).filter { !isMissing && $0.0 < upper ?? .max }
        let part = entries.prefix(state.pageSize)
        var page = RemotePage(
            part.filter { !state.hidden.contains($0.1) }.map { key, photo in
                var remote = remote(photo, state)
                remote.entry = "k\(key)"
                return remote
            })
        if part.count < entries.count { page.next = part.last.map { "\($0.0)" } }
        page.end = part.last.map { "k\($0.0)" }
        page.isPartial = state.isPartial
        return page
    }

    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        try await receive("photo \(id)")
        let state = state.value
        guard state.photos.contains(id.text) else { throw ProviderError.notFound("No \(id).") }
        return remote(id.text, state)
    }

    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? {
        try await receive("\(isLiked ? "like" : "unlike") \(photo)")
        if let error = state.value.likeError { throw error }
        if photo.text == state.value.failingPhoto { throw ProviderError.failed("Trouble.") }
        if photo.text == state.value.refusedPhoto { throw ProviderError.refused("Not this one.") }
        guard state.value.photos.contains(photo.text) else {
            throw ProviderError.notFound("No \(photo).")
        }
        let together = likeGroupPrefix(photo)
        state.update { state in
            for id in state.photos where id == photo.text || together.map(id.hasPrefix) == true {
                if isLiked { state.liked.insert(id) } else { state.liked.remove(id) }
            }
        }
        if state.value.losesResponses { throw HTTPError.unreachable("no response") }
        return isLiked ? 1 : 0
    }

    /// Returns the prefix of a like group: photos such as `a.1` and `a.2` are liked as one.
    func likeGroupPrefix(_ photo: PhotoID) -> String? {
        photo.text.firstIndex(of: ".").map { String(photo.text[...$0]) }
    }

    func countDownload(_ photo: RemotePhoto) async throws {
        try await receive("download \(photo.photo.id)")
    }

    func profile() async throws -> Profile {
        try await receive("profile")
        var profile = Profile(username: state.value.username, name: "Ada")
        profile.userID = state.value.userID
        profile.likes = state.value.likeTotal
        profile.avatarURL = state.value.avatarURL
        return profile
    }

    private func receive(_ request: String) async throws {
        state.update { $0.requests.append(request) }
        do {
            _ = try await state.wait { $0.isHeld || $0.held.contains(request) ? nil : true }
        } catch {
            state.update { $0.cancelled.append(request) }
            throw error
        }
        if let error = state.value.error { throw error }
    }

    private func remote(_ id: String, _ state: FakeService.State) -> RemotePhoto {
        var photo = Photo(id: PhotoID(id))
        photo.isLiked = state.liked.contains(id)
        photo.likes = photo.isLiked ? 1 : 0
        var images: [ImageSize: String] = [:]
        for size in state.imageSizes {
            let suffix = state.imageSizes.count == 1 ? "" : "?\(size.rawValue)"
            images[size] = "https://images.service.test/\(id)\(suffix)"
        }
        return RemotePhoto(photo, images: images)
    }
}
