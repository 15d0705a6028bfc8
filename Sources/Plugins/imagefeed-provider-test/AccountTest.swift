internal import ImageMetadata
internal import JSONFormat
internal import PluginHosting
internal import PluginProtocol
internal import ProviderKit

/// The checks of the calls for one account. They change nothing at the service.
final class AccountTest {
    private let test: ProviderTest
    private let account: AccountIdentity
    private let ports: SessionPorts
    private let session: any ProfileSession & RemoteImages & RemoteLikes
    private var info: ProviderInfo { test.provider.info }
    private var walks: [PageWalk] = []
    private var review = PhotoReview()
    /// The first photo, as the plugin sent it.
    private var firstSent: JSON?

    /// The largest number of sources of which pages are requested.
    private static let maximumSources = 10
    /// The largest number of pages of the default source, and of each other source.
    private static let maximumPages = (first: 20, other: 3)
    /// An ID and a page token that exist at no service.
    private static let unknown = "imagefeed-provider-test-unknown"

    /// Starts a session.
    init(_ test: ProviderTest, _ account: AccountIdentity, _ ports: SessionPorts) {
        self.test = test
        self.account = account
        self.ports = ports
        session = test.provider.makeTestSession(account, ports)
    }

    func run() async {
        guard await checkIdentity() else { return }
        for step in [
            checkProfile, checkFeed, checkPhoto, checkImages, checkSearch,
            checkUnknown, checkConcurrency, checkLikes, skipDownloads,
        ] {
            // After two calls that timed out, further ones would probably time out, too.
            guard test.log.failures.count(where: { $0.kind == .timeout }) < 2 else {
                walks = []
                await Report.check("Further calls", .limits) {
                    $0.skip("Several calls were not answered in time.")
                }
                return
            }
            await step()
        }
    }

    // MARK: Account

    private func checkIdentity() async -> Bool {
        let check = await Report.check("identify", .calls) { check in
            let identity = await test.attempt("identify", &check) {
                try await test.provider.loginMethod.identify(account, ports)
            }
            check.note = identity??.username ?? ""
            checkUserID(.identify, &check)
        }
        return check.result == .passed
    }

    private func checkUserID(_ method: PluginMethod, _ check: inout Check) {
        guard let sent = test.log.results[method]?["user_id"]?.string,
            AccountIdentity(username: "", userID: sent).userID == nil
        else { return }
        check.fail("\(method.rawValue).user_id must have 1 to 256 visible ASCII characters.")
    }

    private func checkProfile() async {
        guard info.capabilities.contains(.profile) else { return }
        await Report.check("profile", .calls) { check in
            let profile = await test.attempt("profile", &check) { try await session.profile() }
            check.note = profile?.name ?? ""
            checkUserID(.profile, &check)
            if let url = test.log.results[.profile]?["avatar_url"]?.string, !url.isEmpty,
                profile?.avatarURL.isEmpty == true
            {
                check.fail(
                    WebAddress(url) == nil
                        ? "profile.avatar_url is not an absolute address: \(url)"
                        : "The host of profile.avatar_url is not in Hosts: \(url)")
            }
        }
    }

    // MARK: Sources and pages

    private func checkFeed() async {
        let first = Source(id: info.defaultSource, title: "", kind: .feed)
        var sources = [first]
        await Report.check("sources", .calls) { sources = await checkSources(first, &$0) }
        for source in sources.prefix(Self.maximumSources) { await checkPages(source) }
        let others = sources.dropFirst(Self.maximumSources).count
        if others > 0 {
            await Report.check("page, other sources", .calls) {
                $0.skip("The pages of \(others) further sources were not requested.")
            }
        }
        Report.show(review.check)
    }

    /// Checks the call `sources`.
    ///
    /// - Returns: The sources, the default one first.
    private func checkSources(_ first: Source, _ check: inout Check) async -> [Source] {
        let sources = await test.attempt("sources", &check) { try await session.sources() }
        guard let sources else { return [first] }
        let sent = test.log.results[.sources]?["sources"]
        if sent == nil { check.fail("sources.sources is missing.") }
        let ids = (sent?.elements ?? []).compactMap { $0["id"]?.string }
        check.note = ids.count.counted("source")
        var known: Set<String> = []
        for id in ids where !known.insert(id).inserted {
            check.fail("The source “\(id)” is listed twice.")
        }
        for id in ids where !session.accepts(SourceID(id)) {
            check.warn(
                "The source “\(id)” matches no entry of Sources in the manifest and is omitted.")
        }
        if check.result == .passed, !known.contains(first.id.text) {
            check.warn("The source of DefaultSource, “\(first.id.text)”, is not listed.")
        }
        if info.capabilities.contains(.like), !known.contains("likes") {
            check.warn(
                "The source “likes” is not listed, although the plugin has the capability “like”.")
        }
        return [sources.first { $0.id == first.id } ?? first] + sources.filter { $0.id != first.id }
    }

    private func checkPages(_ source: Source) async {
        var walk = PageWalk(source.id)
        let limit = walks.isEmpty ? Self.maximumPages.first : Self.maximumPages.other
        let check = await Report.check("page, source \(source.id.text)", .calls) { check in
            while walk.hasNext, walk.pages.count < limit, check.result == .passed {
                let before = test.log.requestCount
                guard let page = await page(source.id, walk.place, &check) else { break }
                walk.add(page, &check)
                let sent = test.log.results[.page]?["photos"]?.elements ?? []
                firstSent = firstSent ?? sent.first
                review.add(sent, page.photos, source.id)
                let requests = test.log.requestCount - before
                if sent.count > 4, requests >= sent.count {
                    check.warn(
                        "A page of \(sent.count) photos took \(requests) requests; request the photos of a page together."
                    )
                }
            }
            if limit == Self.maximumPages.first {
                walk.checkEnd(limit, count: source.count, &check)
            }
            if source.kind == .feed { walk.checkOrder(&check) }
            walk.checkKeys(&check)
            let end = walk.hasNext && check.result != .failed ? "; the end was not reached" : ""
            check.note =
                "\(walk.pages.count.counted("page")), \(walk.photos.count.counted("photo"))\(end)"
        }
        if check.result != .failed || !walk.pages.isEmpty { walks.append(walk) }
    }

    private func page(
        _ source: SourceID, _ place: String?, _ check: inout Check
    ) async -> RemotePage? {
        await test.attempt("page", &check) { try await session.fetchPage(source, from: place) }
    }

    // MARK: Photos

    private var firstPhoto: RemotePhoto? { walks.lazy.flatMap(\.photos).first }

    private func checkPhoto() async {
        await Report.check("photo", .calls) { check in
            guard let id = firstPhoto?.photo.id else { return check.skip("There is no photo.") }
            guard await test.attempt("photo", &check, { try await session.fetchPhoto(id) }) != nil,
                let sent = test.log.results[.photo], let firstSent
            else { return }
            // Other members change, or depend on the list.
            let keys = PhotoField.described.map(\.key).filter {
                !["likes", "updated"].contains($0)
            }
            let different = keys.filter { sent[$0] != firstSent[$0] }
            if !different.isEmpty {
                check.warn("The photo and its page differ in \(different.joined(separator: ", ")).")
            }
        }
    }

    /// Checks the images of the first photo.
    private func checkImages() async {
        await Report.check("Images", .photos) { check in
            guard let photo = firstPhoto else { return check.skip("There is no photo.") }
            var addresses: [ImageSize: String] = photo.images
            for size in photo.images.isEmpty ? [ImageSize.thumb, .full] : [] {
                let address = await test.attempt("image", &check) {
                    try await session.imageAddress(photo, size)
                }
                addresses[size] = address ?? nil
            }
            if check.result == .passed, addresses.isEmpty {
                check.fail(
                    "Neither the photo nor the call “image” provides an address of the image.")
            }
            var bytes = 0
            for address in Set(addresses.values).sorted() {
                let isFull = address == addresses[.full]
                bytes += await checkImage(address, isFull ? photo.photo.mediaType : nil, &check)
            }
            check.note = bytes.bytes
        }
    }

    /// Fetches an image.
    ///
    /// - Returns: Its size.
    private func checkImage(
        _ address: String, _ mediaType: String?, _ check: inout Check
    ) async -> Int {
        let response = await test.attempt("image", &check) {
            var request = HTTPRequest(.get, address)
            request.maximumBytes = 64 << 20
            return try await session.imageClient.send(request)
        }
        guard let response else { return 0 }
        let shown = String(
            address.withoutUserInformation.prefix { $0 != "?" && $0 != "#" }.prefix(200))
        let format = ImageFormat(prefix: response.body.prefix(ImageFormat.prefixBytes))
        if !response.isSuccess {
            check.fail("\(shown) returned status \(response.status).")
        } else if response.isHTML {
            check.fail("\(shown) is an HTML page, not an image.")
        } else if let format, let mediaType, format.mediaType != mediaType {
            check.warn("“media_type” is \(mediaType), but \(shown) is \(format.mediaType).")
        } else if format == nil {
            check.fail("\(shown) is not an image of a supported format.")
        }
        return response.body.count
    }

    // MARK: Searches, likes and downloads

    private func checkSearch() async {
        guard info.capabilities.contains(.search) else { return }
        await Report.check("Search", .provider) { check in
            let title = firstPhoto?.photo.title?.split(separator: " ").first
            let words = title.map(String.init) ?? "photo"
            if let page = await page(SourceID("search:\(words)"), nil, &check) {
                check.note = "\(page.photos.count.counted("photo")) for “\(words.prefix(60))”"
            }
            // These characters separate the parts of an address.
            let outcome = await test.result("page") {
                try await session.fetchPage(SourceID("search:a &imagefeed #imagefeed"), from: nil)
            }
            if case .failure(.failed(let failure)) = outcome {
                test.explain(.failed(failure), &check)
            }
            if let url = test.log.urls.first(where: {
                $0.contains("#imagefeed") || $0.drop { $0 != "?" }.contains("&imagefeed")
            }) {
                check.fail("The words of a search are not encoded: \(url.prefix(200))")
            }
        }
    }

    /// Checks that likes are supported, and that a repeated like or unlike succeeds. The unlike of an unknown photo, and
    /// a like or unlike that the photo has already, change nothing.
    private func checkLikes() async {
        guard session.remoteLikes != nil else { return }
        await Report.check("setLiked", .calls) { check in
            check.note = "only states that the photos have"
            let outcome = await test.result("setLiked") {
                try await session.setLiked(PhotoID(Self.unknown), false)
            }
            switch outcome {
            case .failure(let problem) where test.log.refusal == nil:
                return test.explain(problem, &check)
            case .failure where test.log.refusal == .notSupported:
                return check.fail(
                    "The plugin has the capability “like”, and does not support the call.")
            case .failure, .success: break
            }
            let photos = walks.flatMap(\.photos).filter(\.hasLikeState).map(\.photo)
            for isLiked in [true, false] {
                guard let photo = photos.first(where: { $0.isLiked == isLiked }) else { continue }
                await repeatLike(of: photo, &check)
            }
        }
    }

    /// Sets the liked state that a photo has already. The daemon does that after a crash.
    private func repeatLike(of photo: Photo, _ check: inout Check) async {
        let outcome = await test.result("setLiked") {
            try await session.setLiked(photo.id, photo.isLiked)
        }
        guard case .failure(let problem) = outcome else { return }
        switch test.log.refusal {
        case nil: test.explain(problem, &check)
        // The service does not permit likes, or limits requests.
        case .denied, .unauthorized, .rateLimited, .unreachable: break
        default:
            check.fail(
                "A repeated \(photo.isLiked ? "like" : "unlike") fails: a photo that is \(photo.isLiked ? "liked" : "not liked") already must be accepted."
            )
        }
    }

    private func skipDownloads() async {
        guard info.capabilities.contains(.download) else { return }
        await Report.check("countDownload", .calls) {
            $0.skip("The test changes nothing at the service.")
        }
    }

    // MARK: Errors

    private func checkUnknown() async {
        await expectError("Unknown photo", "not-found") {
            _ = try await session.fetchPhoto(PhotoID(Self.unknown))
        }
        // Every search is valid, so that no search is an unknown source.
        if let prefix = test.provider.sourcePrefixes.first(where: { $0 != "search:" }) {
            await expectError("Unknown source", "not-found") {
                _ = try await session.fetchPage(SourceID(prefix + Self.unknown), from: nil)
            }
        }
        if let walk = walks.first(where: { $0.laterPage != nil }) {
            await expectError("Unknown place", "stale-cursor") {
                _ = try await session.fetchPage(walk.source, from: Self.unknown)
            }
        }
    }

    private func expectError(
        _ name: String, _ kind: String, _ call: @MainActor () async throws -> Void
    ) async {
        await Report.check(name, .errors) { check in
            let expected = "an error of the kind “\(kind)” is expected"
            switch await test.result(name, call) {
            case .success, .failure(.invalid):
                check.warn("The call returned a result; \(expected).")
            case .failure(let problem):
                // An error of a request that the plugin passes on has another kind.
                if test.log.refusal?.rawValue == kind { return }
                if test.log.refusal == .invalidArgument {
                    return check.warn("The error has the kind “invalid-argument”; \(expected).")
                }
                switch problem {
                case .refused(.rateLimited), .refused(.unauthorized), .failed,
                    .service(HTTPError.unreachable):
                    test.explain(problem, &check)
                // The service cannot be used for other requests either.
                case .unavailable where walks.allSatisfy(\.pages.isEmpty):
                    test.explain(problem, &check)
                case .refused(let error): check.fail("The error is “\(error)”; \(expected).")
                case .unavailable(let text): check.fail("A request failed: \(text); \(expected).")
                case .service(let error):
                    check.fail("The error is “\(test.sentence(error))”; \(expected).")
                case .invalid: break
                }
            }
        }
    }

    // MARK: Behaviour

    private func checkConcurrency() async {
        guard let walk = walks.first else { return }
        await Report.check("Two calls at a time", .protocolRules) { check in
            async let first = test.result("sources") { [session] in
                _ = try await session.sources()
            }
            async let second = test.result("page") { [session] in
                _ = try await session.fetchPage(walk.source, from: nil)
            }
            for outcome in await [first, second] {
                if case .failure(let problem) = outcome { test.explain(problem, &check) }
            }
        }
    }

    /// Checks that IDs and page tokens are valid in another process, because the daemon ends idle plugins. Each call is
    /// the first one of a process, which has seen no other page.
    func checkRestart() async {
        guard let walk = walks.first(where: { !$0.photos.isEmpty }) else { return }
        await Report.check("Restart", .testing) { check in
            let known = walk.photos.map(\.photo.id)
            await test.attempt("photo", &check) { try await session.fetchPhoto(known[0]) }
            await test.end()
            if let again = await page(walk.source, nil, &check),
                Set(again.photos.map(\.photo.id)).isDisjoint(with: known)
            {
                check.fail("After a restart, photos of \(walk.source.text) have other IDs.")
            }
            guard let walk = walks.first(where: { $0.laterPage != nil }),
                let later = walk.laterPage
            else { return }
            await test.end()
            let outcome = await test.result("page") {
                try await session.fetchPage(walk.source, from: later.place)
            }
            let place = "the place “\(later.place.prefix(60))”"
            switch outcome {
            case .failure(.refused(.staleCursor)) where !session.hasStablePageTokens:
                check.warn("After a restart, \(place) is stale.")
            case .failure(let problem): test.explain(problem, &check)
            case .success(let page):
                let photos = page.photos.map(\.photo.id)
                if session.hasStablePageTokens,
                    let again = await self.page(walk.source, later.place, &check),
                    photos != later.photos || again.photos.map(\.photo.id) != photos
                {
                    check.section = .provider
                    check.fail(
                        "With LastingPlaces, \(place) does not lead to the same photos again.")
                } else if !later.photos.isEmpty, Set(photos).isDisjoint(with: later.photos) {
                    check.fail("After a restart, \(place) leads to other photos.")
                }
            }
        }
    }
}
