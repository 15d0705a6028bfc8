internal import ProviderKit
internal import UnsplashProvider
internal import UnsplashSimulator

/// A comparison of the duration of calls to plugins and to the same provider in the process.
///
/// The kinds of calls alternate in one run, because the load of the machine varies. Responses are stored, so the
/// duration consists of the messages to and from the plugin, for the call and its HTTP request, and of the work of the
/// plugin.
final class PluginCalls {
    /// The number of starts of a plugin.
    private static let starts = 40
    private static let chunk = 10
    private static let chunks = 60

    private let inside: any RemoteFeed
    private let swift: InstalledPlugin
    private let python: InstalledPlugin
    private let photo: PhotoID
    private let service: SimulatedUnsplash

    private static let feed = "https://example.org/feed.xml"

    /// - Parameters:
    ///   - folder: A folder that contains the plugins in the folders `splash` and `rss`.
    ///   - service: The service of the plugin in Swift.
    /// - Throws: `BenchmarkError`.
    init(_ folder: String, _ service: SimulatedUnsplash) throws {
        self.service = service
        service.addUser("ada")
        let web = RecordingHTTPClient(token: service.logIn("ada").access)
        let settings = ["ApiUrl": service.apiURL, "WebUrl": service.webURL]
        let account = AccountIdentity(username: "ada")
        let session = UnsplashProvider().makeSession(
            account,
            SessionPorts(http: web, settings: ProviderSettings(settings), logger: .silent))
        guard let inside = session.remoteFeed, let photo = service.feed.first else {
            throw BenchmarkError("there is no feed")
        }
        self.inside = inside
        self.photo = PhotoID(photo.id)
        swift = InstalledPlugin(
            folder: "\(folder)/splash", settings: settings, http: web, username: "ada")
        let news = RecordingHTTPClient()
        news.store(Array(Self.document.utf8), at: Self.feed)
        python = InstalledPlugin(
            folder: "\(folder)/rss", settings: [:], http: news, username: Self.feed)
    }

    private static var document: String {
        let items = (0..<30).map { number in
            """
            <item><title>Photo \(number)</title><guid>\(number)</guid><pubDate>Mon, 21 Sep 2026 14:13:20 GMT</pubDate>
            <link>https://example.org/\(number)</link><description>A photo of something, in words</description>
            <enclosure url="https://example.org/\(number).jpg" type="image/jpeg" length="1"/></item>
            """
        }
        return "<rss><channel><title>Photos</title>\(items.joined())</channel></rss>"
    }

    // MARK: Measuring

    private struct Kind {
        let name: String
        let limit: Duration?
        let call: (any RemoteFeed) async throws -> Void
        var inside: [Duration] = []
        var outside: [Duration] = []
    }

    func measure() async throws -> [Table.Row] {
        let page: (any RemoteFeed) async throws -> Void = {
            _ = try await $0.fetchPage(SourceID("editorial"), from: nil)
        }
        let news: (any RemoteFeed) async throws -> Void = {
            _ = try await $0.fetchPage(SourceID("feed"), from: nil)
        }
        let photo: (any RemoteFeed) async throws -> Void = { [photo] in
            _ = try await $0.fetchPhoto(photo)
        }
        // Stores the responses for the measured calls.
        for call in [page, photo] { try await call(inside) }
        let count = try await inside.fetchPage(SourceID("editorial"), from: nil).photos.count
        var firsts: (swift: [Duration], python: [Duration]) = ([], [])
        for round in -2..<Self.starts {
            let swift = try await time(page, try self.swift.newSession())
            let python = try await time(news, try self.python.newSession())
            guard round >= 0 else { continue }
            firsts.swift.append(swift)
            firsts.python.append(python)
        }
        var kinds = [
            Kind(name: "One photo", limit: .milliseconds(1), call: photo),
            Kind(name: "A page of \(count) photos", limit: .milliseconds(1), call: page),
        ]
        let swift = try self.swift.newSession()
        let python = try self.python.newSession()
        var feeds: [Duration] = []
        for round in -2..<Self.chunks {
            for index in kinds.indices {
                let one = try await chunk(kinds[index].call, inside)
                let other = try await chunk(kinds[index].call, swift)
                guard round >= 0 else { continue }
                kinds[index].inside += one
                kinds[index].outside += other
            }
            let times = try await chunk(news, python)
            if round >= 0 { feeds += times }
        }
        let rows =
            [
                row("First call, plugin in Swift", firsts.swift, limit: .milliseconds(40)),
                row("First call, plugin in Python", firsts.python, limit: .milliseconds(150)),
            ]
            + kinds.flatMap { kind in
                [
                    row("\(kind.name), inside", kind.inside),
                    row("\(kind.name), plugin in Swift", kind.outside),
                    Table.Row(
                        "\(kind.name), difference",
                        milliseconds(kind.outside.median - kind.inside.median, digits: 2),
                        ratio: milliseconds(
                            kind.outside.percentile95 - kind.inside.percentile95, digits: 2),
                        processor: kind.limit.map { milliseconds($0) } ?? ""),
                ]
            } + [row("A feed of 30 photos, plugin in Python", feeds)]
        let confinement = "\(self.swift.confinement), \(self.python.confinement)"
        self.swift.stop()
        self.python.stop()
        return rows + [Table.Row("Confined by", confinement)]
    }

    private func row(_ name: String, _ times: [Duration], limit: Duration? = nil) -> Table.Row {
        Table.Row(
            name, milliseconds(times.median, digits: 2),
            ratio: milliseconds(times.percentile95, digits: 2),
            processor: limit.map { milliseconds($0) } ?? "")
    }

    private func time(
        _ call: (any RemoteFeed) async throws -> Void, _ session: any RemoteFeed
    ) async throws -> Duration {
        let start = ContinuousClock.now
        try await call(session)
        return .now - start
    }

    private func chunk(
        _ call: (any RemoteFeed) async throws -> Void, _ session: any RemoteFeed
    ) async throws -> [Duration] {
        var times: [Duration] = []
        for _ in 0..<Self.chunk { times.append(try await time(call, session)) }
        return times
    }
}
