import Contract
import DBus
import Glibc
import ProviderKit
import Storage
import TestSupport
import Testing
import UnsplashSimulator

/// A load of likes, pages and downloads on a daemon that may be killed at any moment, and checks of the results.
@MainActor
final class LoadUnderKills {
    /// True while the daemon is being killed, so that errors are expected.
    var isEnding = false
    private let fixture: UnsplashFixture
    private var random: SeededRandom
    private let account: AccountClient
    /// The photos that are liked and unliked. Walks include other photos.
    private let photos: [String]
    /// The confirmed state of each photo: liked or not, now or later. The state after a call without a reply is
    /// unknown.
    private var confirmedStates: [String: Bool] = [:]
    /// The label of the account and the interval of the slideshow; nil after a call without a reply.
    private var confirmedSettings: [String]? = nil
    private var busy: Set<String> = []
    private var events: [Event] = []
    private var counts = (likes: 0, pending: 0, settings: 0, pages: 0, downloads: 0, commands: 0)

    /// An event of a client, with the number of requests to the service at that time.
    private enum Event {
        case called(String, number: Int)
        case done(String, isLiked: Bool, number: Int)
    }

    init(_ fixture: UnsplashFixture, _ account: AccountClient, seed: UInt64) async throws {
        self.fixture = fixture
        random = SeededRandom(seed: seed)
        self.account = account
        photos = Array(try await account.ids(count: 60))
        for photo in photos { confirmedStates[photo] = false }
        #expect(mkdir(try PrivateBus.current.directory.appending("downloads"), 0o700) == 0)
    }

    /// The confirmed state of each photo.
    var states: [String: Bool] { confirmedStates }

    var report: String {
        """
        \(counts.likes) likes and \(counts.pending) without a reply, \(counts.settings) settings, \
        \(counts.pages) pages, \(counts.downloads) downloads and \(counts.commands) by command, \(fixture.unsplash.requestCount) requests
        """
    }

    // MARK: Service

    private static let patterns: [RequestPattern] = [
        "POST /photos/*/like", "DELETE /photos/*/like", "GET /photos", "GET /*photo-*",
    ]

    /// Makes some of the next requests fail.
    func injectFaults() {
        isEnding = false
        let faults: [Fault] = [
            .responseLost, .reset, .status(500, error: "no"), .truncated, .htmlPage,
        ]
        for pattern in Self.patterns where Int.random(in: 0..<3, using: &random) == 0 {
            fixture.unsplash.fail(pattern, faults.randomElement(using: &random) ?? .reset, times: 1)
        }
    }

    func removeFaults() {
        for pattern in Self.patterns { fixture.unsplash.recover(pattern) }
    }

    // MARK: Load

    func start() -> [Task<Void, Never>] {
        [work(like), work(like), work(like), work(walk), work(download)]
            + (Int.random(in: 0..<4, using: &random) == 0
                ? [Task { await downloadByCommand() }] : [])
    }

    /// Repeats `body` until the daemon exits.
    private func work(_ body: @escaping () async throws -> Void) -> Task<Void, Never> {
        Task {
            while !isEnding {
                do {
                    try await body()
                } catch BusError.reply(let reply) where Self.isExpected(reply) {
                    continue
                } catch {
                    if !isEnding { Issue.record(error) }
                    return
                }
            }
        }
    }

    private static func isExpected(_ reply: ErrorReply) -> Bool {
        [ServiceError.serviceFailed, .staleCursor, .offline, .notFound].map(\.name)
            .contains(reply.name)
    }

    private func like() async throws {
        guard let photo = photos.filter({ !busy.contains($0) }).randomElement(using: &random) else {
            return
        }
        busy.insert(photo)
        defer { busy.remove(photo) }
        let isWanted = Bool.random(using: &random)
        confirmedStates[photo] = nil
        counts.pending += 1
        events.append(.called(photo, number: fixture.unsplash.requestCount))
        let outcome = try await isWanted ? account.like(photo) : account.unlike(photo)
        confirmedStates[photo] = isWanted
        counts.pending -= 1
        counts.likes += 1
        if outcome == .done {
            events.append(.done(photo, isLiked: isWanted, number: fixture.unsplash.requestCount))
        }
    }

    private func set() async throws {
        let number = UInt32.random(in: 10...3600, using: &random)
        confirmedSettings = nil
        try await account.setLabel("\(number)")
        try await fixture.client.service.slideshow.setInterval(number)
        confirmedSettings = ["\(number)", "\(number)"]
        counts.settings += 1
    }

    private func walk() async throws {
        let source =
            ["", "likes", "topic:nature", "search:fog"].randomElement(using: &random) ?? ""
        var (found, cursor): ([String], String) = ([], "")
        for _ in 0..<4 {
            let page = try await account.page(
                source, cursor: cursor, count: UInt32.random(in: 5...40, using: &random))
            found += page.photos.compactMap { $0["id"]?.string }
            counts.pages += 1
            cursor = page.next
            if cursor.isEmpty { break }
        }
        // A photo that is liked during the walk moves to the top.
        if source != "likes" { #expect(found.count == Set(found).count) }
        if Bool.random(using: &random) { _ = try await account.refresh(source) }
        try await set()
    }

    private func download() async throws {
        let photo = photos.randomElement(using: &random) ?? ""
        let file = try Destination.file("transfer", O_RDWR | O_CREAT | O_TRUNC)
        let transfer = fixture.client.service.transfer(
            try await account.download(photo, to: file))
        try await transfer.wait()
        let content = try Destination.content("transfer")
        #expect(
            Array(content.prefix(2)) == [0xff, 0xd8] && Array(content.suffix(2)) == [0xff, 0xd9])
        counts.downloads += 1
    }

    private func downloadByCommand() async {
        let photo = photos.randomElement(using: &random) ?? ""
        do {
            let folder = try PrivateBus.current.directory.appending("downloads")
            let result = try await Terminal.run("download", photo, "-o", folder, "--force")
            if result.exit == .code(0) { counts.commands += 1 }
        } catch {
            Issue.record(error)
        }
    }

    // MARK: Checks

    /// Expects that every confirmed state is still shown: the photo is liked or has a pending like.
    func compare() async throws {
        var (photos, cursor): ([PhotoEntry], String) = ([], "")
        repeat {
            let page = try await account.page("", cursor: cursor, count: 100)
            photos += page.photos
            cursor = page.next
        } while !cursor.isEmpty && photos.count < 60
        let states = Dictionary(
            photos.map { ($0.id, $0.photo.isLiked != $0.photo.isPending) }, uniquingKeysWith: { $1 }
        )
        for photo in self.photos {
            guard let state = states[photo] else {
                Issue.record("\(photo) is not shown")
                continue
            }
            if let confirmed = confirmedStates[photo] {
                #expect(state == confirmed, "\(photo) was lost")
            }
            // The shown state also settles the calls without a reply.
            confirmedStates[photo] = state
        }
    }

    /// Expects that everything that was confirmed is in the data store or, for likes, at the service.
    func check(_ data: Database) throws {
        let liked = Set(fixture.unsplash.likes(of: "ada"))
        var pending: [String: Bool] = [:]
        try data.query(
            "SELECT photo, is_wanted FROM outbox WHERE state IN ('queued', 'sending')"
        ) { pending[$0.text(0)] = $0.integer(1) != 0 }
        for (photo, isLiked) in confirmedStates {
            #expect((pending[photo] ?? liked.contains(photo)) == isLiked, "\(photo) is not stored")
        }
        let settings = try data.first(
            """
            SELECT label, interval FROM account, slideshow
            WHERE id = 'unsplash_ada' AND slideshow.name = ''
            """
        ) { [$0.text(0), $0.text(1)] }
        if let confirmedSettings { #expect(settings == confirmedSettings) }
    }

    /// Expects that the service has the confirmed states and received no request for a like that it had confirmed
    /// before.
    func checkService() {
        let liked = Set(fixture.unsplash.likes(of: "ada"))
        for photo in photos { #expect(liked.contains(photo) == confirmedStates[photo], "\(photo)") }
        let requests = fixture.unsplash.requests("/photos/*/like")
        var confirmed: [String: (method: String, number: Int)] = [:]
        var next = events.makeIterator()
        var event = next.next()
        for request in requests {
            while let current = event, Self.number(current) <= request.number {
                switch current {
                case .called(let photo, _): confirmed[photo] = nil
                case .done(let photo, let isLiked, let number):
                    confirmed[photo] = (isLiked ? "POST" : "DELETE", number)
                }
                event = next.next()
            }
            let photo =
                request.target.split(separator: "/").dropFirst().first.map(String.init) ?? ""
            #expect(confirmed[photo] == nil, "\(request.method) \(photo) after it was done")
        }
    }

    private static func number(_ event: Event) -> Int {
        switch event {
        case .called(_, let number), .done(_, _, let number): number
        }
    }
}
