import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import SlideshowCore

/// Several sources that follow one another, and the orientation of photos.
@Suite @MainActor struct SlideshowSourcesTests {
    private static func source(_ text: String) -> SlideshowSource {
        SlideshowSource(account: AccountID(stored: "a"), source: SourceID(text))
    }

    /// Creates an account with the photos `p1` (the newest) to `p6`, and sources with some of them.
    private func fixture(_ selections: [String: [String]]) -> SlideshowFixture {
        let fixture = SlideshowFixture(FakeSlideshowPhotos(["a": (1...6).map { "p\($0)" }]))
        fixture.photos.albums = Set(selections.keys)
        fixture.photos.selections = selections.mapValues { Set($0.map { PhotoID($0) }) }
        return fixture
    }

    @Test func `the photos of one source follow those of the one before`() async throws {
        let fixture = fixture(["memories": ["p5", "p6"], "empty": [], "album": ["p2"]])
        try await fixture.slideshow.setSources(["memories", "empty", "album"].map(Self.source))
        #expect(try await fixture.next(4) == ["p5", "p6", "p2", "p5"])
        try await fixture.restart()
        #expect(fixture.slideshow.settings.sources.count == 3)
        #expect(try await fixture.next(3) == ["p6", "p2", "p5"])
    }

    @Test func `in random order, each source is shown before the next one`() async throws {
        let fixture = fixture(["memories": ["p5", "p6"]])
        try await fixture.slideshow.setShuffled(true)
        try await fixture.slideshow.setSources([Self.source("memories"), Self.source("")])
        let shown = try await fixture.next(2)
        #expect(Set(shown) == ["p5", "p6"])
        // The last photo of a source is not shown twice in succession.
        let all = try await fixture.next(6)
        #expect(Set(all) == Set((1...6).map { "p\($0)" }))
        #expect(all.first != shown.last)
    }

    @Test(arguments: [false, true], [false, true])
    func `memories start anew on another date`(isShuffled: Bool, isRestarted: Bool) async throws {
        let fixture = fixture(["memories": ["p3", "p4", "p5", "p6"]])
        try await fixture.slideshow.setShuffled(isShuffled)
        try await fixture.slideshow.setSources([Self.source("memories")])
        let before = try await fixture.next()
        if !isRestarted { try await fixture.attach() }
        fixture.photos.date = "2026-11-30"
        fixture.photos.selections["memories"] = Set(["p1", "p2", "p5"].map { PhotoID($0) })
        if isRestarted {
            try await fixture.restart()
        } else {
            fixture.slideshow.handle(
                .updated(SourceID("memories"), new: 2), of: AccountID(stored: "a"))
            await fixture.settle()
        }
        #expect(fixture.current == before)
        let shown = try await fixture.next(3)
        #expect(Set(shown) == ["p1", "p2", "p5"])
        if !isShuffled { #expect(shown == ["p1", "p2", "p5"]) }
        // The same date again.
        if isRestarted { try await fixture.restart() }
        #expect(Set(try await fixture.next(2)).count == 2)
    }

    @Test(arguments: [false, true])
    func `the first photo after midnight is one of the new date`(isShuffled: Bool) async throws {
        let fixture = fixture(["memories": ["p3", "p4", "p5", "p6"]])
        fixture.photos.accounts[0].isLocal = false
        try await fixture.slideshow.setShuffled(isShuffled)
        try await fixture.slideshow.setSources([Self.source("memories")])
        try await fixture.attach()
        #expect(fixture.slideshow.candidate != nil)
        // The cache has the photos of the day before until it is refreshed.
        fixture.photos.date = "2026-11-30"
        fixture.photos.refreshed["memories"] = [PhotoID("p1"), PhotoID("p2")]
        #expect(Set(try await fixture.next(2)) == ["p1", "p2"])
    }

    @Test func `a source that does not exist any more is passed over`() async throws {
        let fixture = fixture(["x": ["p1"], "y": ["p2", "p3"]])
        try await fixture.slideshow.setSources([Self.source("x"), Self.source("y")])
        #expect(try await fixture.next() == "p1")
        fixture.photos.albums = ["y"]
        fixture.photos.selections["x"] = nil
        await fixture.slideshow.checkSource()
        #expect(try await fixture.next(3) == ["p2", "p3", "p2"])
        fixture.photos.albums = []
        fixture.photos.selections = [:]
        await fixture.slideshow.checkSource()
        #expect(fixture.slideshow.source == Self.source(""))
        #expect(Set(try await fixture.next(6)).count == 6)
    }

    @Test func `a list without a photo fails, one with the current repeats it`() async throws {
        let fixture = fixture(["x": [], "y": ["p4"]])
        try await fixture.slideshow.setSources([Self.source("x"), Self.source("y")])
        #expect(try await fixture.next(3) == ["p4", "p4", "p4"])
        fixture.photos.selections["y"] = []
        await #expect(throws: EngineError.self) { try await fixture.slideshow.next() }
        #expect(!fixture.slideshow.canGoNext)
    }

    @Test(arguments: [false, true])
    func `after a step back, other settings apply to the next photo`(isAttached: Bool) async throws
    {
        let fixture = fixture(["x": ["p4"], "y": ["p5"]])
        fixture.photos.portraits = [PhotoID("p6")]
        if isAttached { try await fixture.attach() }
        func goBack() async throws {
            while fixture.slideshow.canGoPrevious { try await fixture.slideshow.previous() }
            await fixture.settle()
        }
        _ = try await fixture.next(3)
        try await goBack()
        try await fixture.slideshow.setSources([Self.source("x"), Self.source("y")])
        #expect(try await fixture.next(2) == ["p4", "p5"])
        try await fixture.slideshow.previous()
        try await fixture.slideshow.setSources([Self.source("")])
        try await fixture.slideshow.setOrientation("portrait")
        #expect(try await fixture.next() == "p6")
        // What was shown before the photo to which the user went back remains.
        try await fixture.slideshow.previous()
        #expect(fixture.current == "p4")
        try await goBack()
        #expect(fixture.current == "p1")
        try await fixture.slideshow.setShuffled(true)
        #expect(fixture.slideshow.playlist.future.isEmpty)
        #expect(try await fixture.next() == "p6")
    }

    @Test func `only photos of the orientation are shown`() async throws {
        let fixture = fixture([:])
        fixture.photos.portraits = [PhotoID("p2"), PhotoID("p5")]
        fixture.photos.unknown = [PhotoID("p3")]
        for isShuffled in [false, true] {
            try await fixture.slideshow.setShuffled(isShuffled)
            try await fixture.slideshow.setOrientation("portrait")
            #expect(Set(try await fixture.next(4)) == ["p2", "p5"])
            try await fixture.slideshow.setOrientation("landscape")
            #expect(Set(try await fixture.next(6)) == ["p1", "p4", "p6"])
        }
        fixture.photos.portraits = []
        try await fixture.slideshow.setOrientation("portrait")
        await #expect(throws: EngineError.self) { try await fixture.slideshow.next() }
        try await fixture.slideshow.setOrientation("any")
        #expect(Set(try await fixture.next(6)).count == 6)
        await #expect(throws: EngineError.self) {
            try await fixture.slideshow.setOrientation("square")
        }
    }

    @Test(arguments: [true, false])
    func `a photo whose size becomes known joins the round`(isLocal: Bool) async throws {
        let fixture = fixture([:])
        let account = AccountID(stored: "a")
        fixture.photos.accounts[0].isLocal = isLocal
        fixture.photos.portraits = Set(
            ["p1", "p2", "p3", "p5", "p6", "n1", "n2"].map { PhotoID($0) })
        fixture.photos.unknown = Set(["p3", "p4", "n1"].map { PhotoID($0) })
        try await fixture.slideshow.setShuffled(true)
        try await fixture.slideshow.setOrientation("portrait")
        _ = try await fixture.next()
        fixture.photos.add("n1", to: 0)
        if isLocal {
            fixture.slideshow.reader.photosAdded(account, [PhotoID("n1")])
        } else {
            fixture.slideshow.reader.sourceChanged(account, SourceID("all"), new: 1)
        }
        await fixture.settle()
        fixture.photos.unknown = []
        // A photo of another source, and one that is wider than high.
        let changed = ["n2", "p4", "p3", "n1"].map { fixture.photos.described(PhotoID($0)) }
        fixture.slideshow.handle(.photosChanged(changed), of: account)
        await fixture.settle()
        // The next photo was prepared before the size was known.
        #expect(Set(try await fixture.next(3)).isSuperset(of: ["p3", "n1"]))
        fixture.slideshow.handle(.photosChanged(changed), of: account)
        await fixture.settle()
        let rest = try await fixture.next(2)
        #expect(Set(rest).isSubset(of: ["p1", "p2", "p5", "p6"]))
    }

    @Test func `a new photo of another orientation is not shown`() async throws {
        let fixture = fixture([:])
        fixture.photos.portraits = [PhotoID("p2"), PhotoID("n1")]
        try await fixture.slideshow.setShuffled(true)
        try await fixture.slideshow.setOrientation("landscape")
        _ = try await fixture.next(2)
        for name in ["n1", "n2"] {
            fixture.photos.add(name, to: 0)
            fixture.slideshow.reader.photosAdded(AccountID(stored: "a"), [PhotoID(name)])
        }
        await fixture.settle()
        let shown = try await fixture.next(6)
        #expect(shown.contains("n2") && !shown.contains("n1"))
    }

    @Test func `1 to 8 sources are accepted, none of them twice`() async throws {
        let fixture = fixture([:])
        fixture.photos.albums = Set((1...9).map { "s\($0)" })
        let many = (1...9).map { Self.source("s\($0)") }
        for sources in [[], many, [many[0], many[0]]] {
            await #expect(throws: EngineError.self) {
                try await fixture.slideshow.setSources(sources)
            }
        }
        try await fixture.slideshow.setSources(Array(many.prefix(8)))
        #expect(fixture.slideshow.settings.sources.count == 8)
    }

    /// Compares walks through random sources with a model: the concatenation of the sources, again and again, without
    /// hidden photos and photos of another orientation. A photo is not shown twice in succession if there is another one.
    @Test(arguments: 0..<60)
    func `walks through random sources are those of the model`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let names = (1...6).map { "p\($0)" }
        let fixture = SlideshowFixture(FakeSlideshowPhotos(["a": names]), seed: seed)
        fixture.photos.pageLimit = Int.random(in: 1...4, using: &random)
        fixture.photos.portraits = Set(
            names.filter { _ in Bool.random(using: &random) }.map { PhotoID($0) })
        let orientation = SlideshowOrientation.allCases.randomElement(using: &random) ?? .any
        var selections: [[String]] = []
        for index in 0..<Int.random(in: 2...4, using: &random) {
            let selection = names.filter { _ in Bool.random(using: &random) }
            fixture.photos.albums.insert("s\(index)")
            fixture.photos.selections["s\(index)"] = Set(selection.map { PhotoID($0) })
            selections.append(
                selection.filter { name in
                    let isPortrait = fixture.photos.portraits.contains(PhotoID(name))
                    return orientation == .any || isPortrait == (orientation == .portrait)
                })
        }
        let isShuffled = Bool.random(using: &random)
        try await fixture.slideshow.setShuffled(isShuffled)
        try await fixture.slideshow.setOrientation(orientation.rawValue)
        try await fixture.slideshow.setSources(selections.indices.map { Self.source("s\($0)") })
        let isEmpty = selections.allSatisfy(\.isEmpty)
        var source = 0
        var rest = selections[0]
        for _ in 0..<20 {
            if Int.random(in: 0..<6, using: &random) == 0, !fixture.current.isEmpty {
                try await fixture.restart()
            }
            guard !isEmpty else {
                await #expect(throws: EngineError.self) { try await fixture.slideshow.next() }
                continue
            }
            let before = fixture.current
            let shown = try await fixture.next()
            // A source with no photo left, or only the current one, is passed over.
            var passed = 0
            while rest.allSatisfy({ $0 == before }), passed <= selections.count {
                source = (source + 1) % selections.count
                rest = selections[source]
                passed += 1
            }
            if rest.allSatisfy({ $0 == before }) {
                // There is no other photo.
                #expect(shown == before, "seed \(seed)")
                continue
            }
            let expected =
                isShuffled ? rest.filter { $0 != before } : [rest.first { $0 != before } ?? ""]
            #expect(expected.contains(shown), "seed \(seed): \(shown), not one of \(expected)")
            if isShuffled {
                rest.removeAll { $0 == shown }
            } else {
                rest.removeSubrange(...(rest.firstIndex(of: shown) ?? 0))
            }
        }
    }
}
