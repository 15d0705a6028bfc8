import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import SlideshowCore

/// Tests of the history and the timer's conditions, without tasks and time.
struct PlaylistTests {
    private func id(_ photo: String) -> CombinedPhotoID {
        CombinedPhotoID(AccountID(stored: "local_ada"), PhotoID(photo))
    }

    private func shown(_ photo: String) -> Playlist.Shown {
        Playlist.Shown(id: id(photo), photo: Photo(id: PhotoID(photo)), image: "/\(photo)")
    }

    private func playlist(showing photos: String...) -> Playlist {
        var playlist = Playlist()
        for photo in photos { playlist.advance(to: shown(photo), key: 0) }
        return playlist
    }

    private func names(_ entries: ArraySlice<Playlist.Entry>) -> String {
        entries.map(\.id.photo.text).joined(separator: " ")
    }

    /// Each step is a photo with the kind of step: `<` goes back, `>` forward, `=` selects the photo, `-` hides it, and
    /// a photo alone is the next one of the order.
    @Test(arguments: [
        ("a b c <b <a", "|a|b c"), ("a b c <b <a >b", "a|b|c"),
        // The photo is not on the way.
        ("a b c <a >x", "|a|b c"), ("a b c <x", "a b|c|"),
        // Photos that are skipped on the way remain in the history.
        ("a b c d <a", "|a|b c d"), ("a b c d <a >c", "a b|c|d"), ("a b c <a d", "a b c|d|"),
        // A selected photo ends the way forward.
        ("a b c <a =x", "a|x|"), ("a b c <a =a", "|a|"),
        ("a a a", "|a|"), ("a b c <c", "a b|c|"), ("a b <a a", "a b|a|"),
        // A hidden photo leaves the history. One that is shown again stays hidden.
        ("a b a c -a", "b|c|"), ("a b a c -a -c", "b||"), ("a -b =b", "a|b|"),
        ("a b c -c d", "a b|d|"), ("a b c -c <a", "|a|b"), ("a b c <b -b >c", "a|c|"),
    ])
    func `steps change the history`(steps: String, expected: String) {
        var playlist = Playlist()
        for step in steps.split(separator: " ") {
            let photo = String(step.drop { "<>=-".contains($0) })
            switch step.first {
            case "<", ">":
                let way = step.first == "<" ? playlist.past.reversed() : Array(playlist.future)
                guard let entry = way.first(where: { $0.id == id(photo) }) else { continue }
                let isMoved = playlist.move(to: entry, shown(photo), key: 0)
                #expect(isMoved)
            case "=": playlist.show(shown(photo), key: 0)
            case "-": playlist.hide(id(photo), 1)
            default: playlist.advance(to: shown(photo), key: 0)
            }
        }
        let current = playlist.current?.id.photo.text ?? ""
        #expect("\(names(playlist.past))|\(current)|\(names(playlist.future))" == expected)
        let positions = playlist.entries.map(\.position)
        #expect(positions == Set(positions).sorted())
    }

    @Test func `a photo that left cannot be gone back to`() throws {
        var playlist = playlist(showing: "a", "b")
        let entry = try #require(playlist.past.first)
        playlist.remove([id("a")])
        let before = playlist
        let isMoved = playlist.move(to: entry, shown("a"), key: 0)
        #expect(!isMoved)
        #expect(playlist == before)
    }

    @Test func `the history has 100 photos before the current one`() {
        var playlist = Playlist()
        for number in 0..<150 { playlist.advance(to: shown("\(number)"), key: 0) }
        #expect((playlist.past.count, playlist.past.first?.id) == (100, id("49")))
        #expect(playlist.past.last?.id == id("148"))
    }

    @Test func `a removed account leaves the history and the source`() {
        var playlist = playlist(showing: "a", "b")
        playlist.settings.source = SlideshowSource(
            account: AccountID(stored: "local_ada"), source: SourceID("album:x"))
        playlist.cursor = "7"
        playlist.forget(AccountID(stored: "local_ada"))
        #expect(playlist.current == nil && playlist.past.isEmpty)
        #expect((playlist.settings.source, playlist.cursor) == (.initial, ""))
    }

    @Test func `the positions of two rounds do not overlap, and new photos precede the others`() {
        var random = SystemRandomNumberGenerator()
        var playlist = Playlist()
        playlist.settings.isShuffled = true
        for _ in 0..<4 {
            for _ in 0..<100 {
                let new = playlist.randomPosition(isNew: true, using: &random)
                let other = playlist.randomPosition(isNew: false, using: &random)
                let key = Playlist.randomKey(using: &random)
                let later = Playlist.positions(playlist.round + 1).lowerBound + key
                #expect(new < other && playlist.next.contains(new) && playlist.next.contains(other))
                #expect(!playlist.next.contains(later) && Playlist.waiting.contains(later))
            }
            playlist.beginRound()
        }
    }

    @Test func `the timer runs only with a client, an interval, and while not paused`() {
        var playlist = Playlist()
        #expect(playlist.timerInterval == nil)
        playlist.clients = [":1.1", ":1.2"]
        #expect(playlist.timerInterval == .seconds(1800))
        playlist.settings.isPaused = true
        #expect(playlist.timerInterval == nil && !playlist.isActive)
        playlist.settings.isPaused = false
        playlist.settings.intervalSeconds = 0
        #expect(playlist.timerInterval == nil && playlist.isActive)
        playlist.settings.intervalSeconds = 5
        playlist.clients = [":1.2"]
        #expect(playlist.timerInterval == .seconds(5))
        playlist.clients = []
        #expect(playlist.timerInterval == nil)
    }
}

/// Tests of the limits of a search.
struct SlideshowSearchTests {
    private let id = CombinedPhotoID(AccountID(stored: "a"), PhotoID("1"))
    private let other = CombinedPhotoID(AccountID(stored: "b"), PhotoID("1"))
    private var search = SlideshowSearch(timeLimit: .seconds(10))

    @Test mutating func `a search fetches five images, then looks up cached ones`() {
        for _ in 0..<5 {
            expectAttempt(id, mayFetchImage: true)
            let isOfPhoto = search.recordFailure(ProviderError.notFound(""), of: id)
            #expect(isOfPhoto)
        }
        for _ in 0..<200 { expectAttempt(id, mayFetchImage: false) }
        expectAttempt(id, mayFetchImage: nil)
        #expect(search.isStopped)
        expectAttempt(id, mayFetchImage: true, isLocal: true)
    }

    @Test mutating func `after a failure of the network, only cached images are used`() {
        expectAttempt(id, mayFetchImage: true)
        let isOfPhoto = search.recordFailure(HTTPError.unreachable(""), of: id)
        #expect(!isOfPhoto)
        expectAttempt(id, mayFetchImage: false)
        expectAttempt(other, mayFetchImage: true)
    }

    @Test mutating func `no fetch begins when the time is over, or the network may not be used`() {
        expectAttempt(id, mayFetchImage: false, mayFetch: false)
        search.start -= .seconds(11)
        expectAttempt(id, mayFetchImage: false)
    }

    private mutating func expectAttempt(
        _ id: CombinedPhotoID, mayFetchImage expected: Bool?, mayFetch: Bool = true,
        isLocal: Bool = false
    ) {
        let attempt = search.attempt(id, mayFetch: mayFetch, isLocal: isLocal)
        #expect(attempt == expected)
    }
}
