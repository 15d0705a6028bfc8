internal import PluginProtocol
internal import Plugins
internal import ProviderKit

/// The checks of the calls for one account. They change nothing at the service.
final class AccountTest {
    private let test: ProviderTest
    private var account: PluginTrial.Account
    private var walks: [PageWalk] = []
    private var review = PhotoReview()

    /// The largest number of sources of which pages are requested.
    private static let maximumSources = 10
    /// The largest number of pages of the default source, and of each other source.
    private static let maximumPages = (first: 20, other: 3)
    /// An ID and a page token that exist at no service.
    private static let unknown = "imagefeed-provider-test-unknown"

    init(_ test: ProviderTest, _ account: PluginTrial.Account) {
        self.test = test
        self.account = account
    }

    func run() async {
        guard await checkIdentity() else { return }
        let steps = [
            checkProfile, checkFeed, checkLastingPlaces, checkReview, checkPhoto, checkImage,
            checkUnknown, checkConcurrency, checkRestart,
        ]
        for step in steps {
            guard !isHanging else {
                return Report.show(
                    Check(
                        skipping: "Further calls", .limits,
                        "Several calls were not answered in time."))
            }
            await step()
        }
        skipChanges()
    }

    /// True if two calls timed out: further calls would probably time out, too.
    private var isHanging: Bool { test.log.failures.count { $0.kind == .timeout } >= 2 }

    // MARK: Account

    private func checkIdentity() async -> Bool {
        var check = Check("identify", .calls)
        let outcome = await test.call(.identify, [:], account)
        test.explain(outcome, &check)
        if case .value(let value) = outcome {
            do throws(PluginFault) {
                let found = try AccountIdentity(PluginReader(value, "identify"))
                check.note = found.username
                // The decoder replaces an invalid ID by nil.
                if case .string? = value["user_id"], found.userID == nil {
                    check.fail("identify.user_id must have 1 to 256 visible ASCII characters.")
                }
            } catch {
                check.fail("\(error).")
            }
        }
        Report.show(check)
        return check.result == .passed
    }

    private func checkProfile() async {
        guard test.tried.capabilities.contains(.profile) else { return }
        var check = Check("profile", .calls)
        let outcome = await test.call(.profile, [:], account)
        test.explain(outcome, &check)
        if case .value(let value) = outcome {
            do throws(PluginFault) {
                let profile = try Profile(PluginReader(value, "profile"), account.hosts)
                check.note = profile.name
                if case .string(let url)? = value["avatar_url"], !url.isEmpty,
                    profile.avatarURL.isEmpty
                {
                    check.fail("The host of profile.avatar_url is not in Hosts: \(url)")
                }
            } catch {
                check.fail("\(error).")
            }
        }
        Report.show(check)
    }

    // MARK: Sources and pages

    private func checkFeed() async {
        let sources = await checkSources()
        for source in sources.prefix(Self.maximumSources) where !isHanging {
            await checkPages(source)
        }
        guard sources.count > Self.maximumSources else { return }
        Report.show(
            Check(
                skipping: "page, other sources", .calls,
                "Pages of the first \(Self.maximumSources) of \(sources.count) sources were requested."
            ))
    }

    private func checkReview() async { Report.show(review.check) }

    /// Checks the call `sources`.
    ///
    /// - Returns: The sources, the default one first.
    private func checkSources() async -> [SourceID] {
        var check = Check("sources", .calls)
        defer { Report.show(check) }
        let first = test.tried.defaultSource
        let outcome = await test.call(.sources, [:], account)
        test.explain(outcome, &check)
        guard case .value(let value) = outcome else { return [first] }
        var ids: [SourceID] = []
        do throws(PluginFault) {
            let reader = PluginReader(value, "sources")
            try reader.expectObject()
            if value["sources"] == nil { throw reader.missing("sources") }
            for element in try reader.elements("sources", atMost: Source.maximumNumber) {
                ids.append(try Source(element).id)
            }
        } catch {
            check.fail("\(error).")
        }
        check.note = ids.count.counted("source")
        var known: Set<SourceID> = []
        for id in ids where !known.insert(id).inserted {
            check.fail("The source “\(id.text)” is listed twice.")
        }
        for id in ids where !test.tried.accepts(id) {
            check.warn(
                "The source “\(id.text)” matches no entry of Sources in the manifest and is omitted."
            )
        }
        if check.result == .passed, !known.contains(first) {
            check.warn("The source of DefaultSource, “\(first.text)”, is not listed.")
        }
        if test.tried.capabilities.contains(.like), !known.contains(SourceID("likes")) {
            check.warn(
                "The source “likes” is not listed, although the plugin has the capability “like”.")
        }
        return [first] + ids.filter { $0 != first && test.tried.accepts($0) }
    }

    private func checkPages(_ source: SourceID) async {
        var check = Check("page, source \(source.text)", .calls)
        var walk = PageWalk(source)
        let limit = walks.isEmpty ? Self.maximumPages.first : Self.maximumPages.other
        while walk.hasNext, walk.pages.count < limit {
            let outcome = await page(source, walk.place)
            test.explain(outcome, &check)
            guard case .value(let value) = outcome else { break }
            do throws(PluginFault) {
                let page = try RemotePage(PluginReader(value, "page"), account.hosts)
                walk.add(page, &check)
                review.add(value, page, account.hosts)
            } catch {
                let isOfPhoto = error.description.hasPrefix("page.photos[")
                check = Check(check.name, isOfPhoto ? .photos : .calls)
                check.fail("\(error).")
                break
            }
            if check.result == .failed { break }
        }
        let end = walk.hasNext && check.result != .failed ? "; the end was not reached" : ""
        let (pages, photos) = (walk.pages.count, walk.photos.count)
        check.note =
            "\(pages.counted("page")), \(photos.counted("photo"))\(end)"
        if check.result == .passed || !walk.pages.isEmpty { walks.append(walk) }
        Report.show(check)
        var entries = Check("Entries, source \(source.text)", .photos)
        walk.checkKeys(&entries)
        if entries.result != .passed { Report.show(entries) }
    }

    private func page(
        _ source: SourceID, _ place: String?, of trial: PluginTrial? = nil,
        _ account: PluginTrial.Account? = nil
    ) async -> ProviderTest.Outcome {
        await test.call(
            .page, ["source": .string(source.text), "place": JSONValue(place)],
            account ?? self.account, of: trial)
    }

    private func photos(_ outcome: ProviderTest.Outcome, _ check: inout Check) -> [PhotoID]? {
        test.explain(outcome, &check)
        guard case .value(let value) = outcome else { return nil }
        do throws(PluginFault) {
            return try RemotePage(PluginReader(value, "page"), account.hosts).photos.map(\.photo.id)
        } catch {
            check.fail("\(error).")
            return nil
        }
    }

    /// A page that is not the first one of its source.
    private var laterPage: (source: SourceID, place: String, photos: [PhotoID])? {
        for walk in walks where walk.pages.count > 1 {
            if let place = walk.pages[0].next {
                return (walk.source, place, walk.pages[1].photos.map(\.photo.id))
            }
        }
        return nil
    }

    private func checkLastingPlaces() async {
        guard test.tried.hasStablePageTokens, let page = laterPage else { return }
        var check = Check("LastingPlaces", .provider)
        if let again = photos(await self.page(page.source, page.place), &check),
            again != page.photos
        {
            check.fail(
                "The place “\(page.place.prefix(60))” of \(page.source.text) does not lead to the same photos again."
            )
        }
        Report.show(check)
    }

    // MARK: Photos

    private var firstPhoto: RemotePhoto? {
        walks.lazy.flatMap(\.pages).flatMap(\.photos).first
    }

    private func checkPhoto() async {
        var check = Check("photo", .calls)
        defer { Report.show(check) }
        guard let known = firstPhoto else { return check.skip("There is no photo.") }
        let outcome = await test.call(.photo, ["photo": .string(known.photo.id.text)], account)
        test.explain(outcome, &check)
        guard case .value(let value) = outcome else { return }
        do throws(PluginFault) {
            let photo = try RemotePhoto(PluginReader(value, "photo"), account.hosts)
            if photo.photo.id != known.photo.id {
                check.fail("The result is another photo, “\(photo.photo.id.text)”.")
            }
        } catch {
            check.fail("\(error).")
        }
    }

    private func checkImage() async {
        var check = Check("Images", .photos)
        defer { Report.show(check) }
        guard let photo = firstPhoto else { return check.skip("There is no photo.") }
        var address = ImageSize.allCases.compactMap { photo.images[$0] }.first
        if photo.images.isEmpty {
            let parameters: [String: JSONValue] = [
                "photo": .string(photo.photo.id.text), "size": .string(ImageSize.full.rawValue),
                "note": .string(photo.note),
            ]
            let outcome = await test.call(.image, parameters, account)
            test.explain(outcome, &check)
            guard case .value(let value) = outcome else { return }
            if case .string(let url)? = value["url"] { address = url }
        }
        guard let address else {
            return check.fail(
                "Neither the photo nor the call “image” provides an address of the image.")
        }
        guard account.hosts.permits(address) else {
            return check.fail("The host of an image is not in Hosts: \(Self.shown(address))")
        }
        var request = HTTPRequest(.get, address)
        request.maximumBytes = 64 << 20
        do {
            let response = try await account.send(request)
            check.note = response.body.count.bytes
            if !response.isSuccess {
                check.fail("\(Self.shown(address)) returned status \(response.status).")
            } else if response.isHTML {
                check.fail("\(Self.shown(address)) is an HTML page, not an image.")
            } else if ImageFormat(prefix: response.body.prefix(ImageFormat.prefixBytes)) == nil {
                check.fail("\(Self.shown(address)) is not an image of a supported format.")
            }
        } catch {
            test.explain(.service(error), &check)
        }
    }

    private static func shown(_ address: String) -> String {
        String(address.withoutUserInformation.prefix { $0 != "?" && $0 != "#" }.prefix(200))
    }

    // MARK: Errors

    private func checkUnknown() async {
        var photo = Check("Unknown photo", .errors)
        expect(
            await test.call(.photo, ["photo": .string(Self.unknown)], account), "a photo", &photo)
        Report.show(photo)
        // Every search is valid, so that no search is an unknown source.
        if let prefix = test.tried.sourcePrefixes.first(where: { $0 != "search:" }) {
            var source = Check("Unknown source", .errors)
            expect(await page(SourceID(prefix + Self.unknown), nil), "a page", &source)
            Report.show(source)
        }
        if let page = laterPage {
            var place = Check("Unknown place", .errors)
            expect(await self.page(page.source, Self.unknown), "a page", &place, takesStale: true)
            Report.show(place)
        }
    }

    private func expect(
        _ outcome: ProviderTest.Outcome, _ value: String, _ check: inout Check,
        takesStale: Bool = false
    ) {
        switch outcome {
        case .value:
            check.warn(
                "The call returned \(value); an error of the kind “\(takesStale ? "stale-cursor" : "not-found")” is expected."
            )
        case .refused(.notFound) where !takesStale, .refused(.invalidArgument): break
        case .refused(.staleCursor) where takesStale: break
        case .refused(.rateLimited), .failed, .service(HTTPError.unreachable):
            test.explain(outcome, &check)
        case .refused(let error):
            check.fail(
                "An error of the kind “\(takesStale ? "stale-cursor" : "not-found")” is expected, not: \(error)"
            )
        case .unavailable(let problem):
            check.fail(
                "An error of the kind “\(takesStale ? "stale-cursor" : "not-found")” is expected, not a failed request: \(problem)"
            )
        case .service(let error):
            check.fail(
                "An error of the kind “\(takesStale ? "stale-cursor" : "not-found")” is expected, not a failed request: \(error)"
            )
        }
    }

    // MARK: Behaviour

    private func checkConcurrency() async {
        var check = Check("Two calls at a time", .protocolRules)
        async let first = test.call(.sources, [:], account)
        async let second = page(test.tried.defaultSource, nil)
        let outcomes = await [first, second]
        if walks.isEmpty {
            check.skip("Single calls failed.")
        } else {
            for outcome in outcomes { test.explain(outcome, &check) }
        }
        Report.show(check)
    }

    /// Checks that IDs and page tokens are valid in another process, because the daemon ends idle plugins.
    private func checkRestart() async {
        var check = Check("Restart", .testing)
        let second = test.makeSecondTrial()
        do {
            guard let account = try test.makeAccount(second) else { return }
            if let walk = walks.first, let known = walk.pages.first?.photos.map(\.photo.id),
                let photo = known.first
            {
                test.explain(
                    await test.call(.photo, ["photo": .string(photo.text)], account, of: second),
                    &check)
                let again = photos(await page(walk.source, nil, of: second, account), &check)
                if let again, Set(again).isDisjoint(with: known) {
                    check.fail("After a restart, photos of \(walk.source.text) have other IDs.")
                }
            }
            if let page = laterPage {
                let outcome = await self.page(page.source, page.place, of: second, account)
                if case .refused(.staleCursor) = outcome {
                    check.warn("After a restart, the place “\(page.place.prefix(60))” is stale.")
                } else if let again = photos(outcome, &check), !page.photos.isEmpty,
                    Set(again).isDisjoint(with: page.photos)
                {
                    check.fail(
                        "After a restart, the place “\(page.place.prefix(60))” leads to other photos."
                    )
                }
            }
        } catch {
            check.fail("\(error)")
        }
        second.end()
        await test.secondLog.waitForEnd()
        Report.show(check)
    }

    private func skipChanges() {
        let reason = "The test changes nothing at the service."
        if test.tried.capabilities.contains(.like) {
            Report.show(Check(skipping: "setLiked", .calls, reason))
        }
        if test.tried.capabilities.contains(.download) {
            Report.show(Check(skipping: "countDownload", .calls, reason))
        }
    }
}
