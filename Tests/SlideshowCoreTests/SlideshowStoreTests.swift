import EngineModel
import Glibc
import LoopbackHTTP
import ProviderKit
import Storage
import System
import TestSupport
import Testing

@testable import SlideshowCore

/// Tests of the store of slideshows.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SlideshowStoreTests {
    private let data = Store.inMemory([SlideshowStore.dataFormat])
    private let cache = Store.inMemory([SlideshowStore.cacheFormat])
    private var store: SlideshowStore { SlideshowStore(data: data, cache: cache) }

    private nonisolated func id(_ photo: String) -> CombinedPhotoID {
        CombinedPhotoID(AccountID(stored: "a"), PhotoID(photo))
    }

    private var settings: SlideshowSettings {
        var settings = SlideshowSettings()
        settings.isPaused = true
        settings.intervalSeconds = .max
        settings.isShuffled = true
        settings.imageSize = .full
        settings.orientation = .portrait
        settings.sources = [
            .initial, SlideshowSource(account: AccountID(stored: "a"), source: SourceID("album:x")),
        ]
        return settings
    }

    private var playlist: Playlist {
        var photo = Photo(id: PhotoID("1"))
        photo.title = "Title"
        photo.created = Timestamp(secondsSince1970: 1_700_000_000)
        photo.likes = 3
        photo.isLiked = true
        photo.isSensitive = false
        photo.focus = FocalPoint(x: 0.25, y: -1)
        let entries = ["3", "2", "3", "1", "2", "4"].enumerated().map { index, photo in
            Playlist.Entry(position: Int64(index + 7), id: id(photo))
        }
        return Playlist(
            settings: settings, entries: entries, position: 10,
            current: .init(id: id("1"), photo: photo, image: "/image"), sourceIndex: 1,
            cursor: "cursor", round: 3,
            parts: [
                AccountID(stored: "a"): .init(
                    edition: "all", cursor: "c", hasEnded: true, pass: 2,
                    top: PhotoID("t"))
            ], hideNumber: 5)
    }

    private func save(
        _ new: Playlist, replacing old: Playlist = Playlist(), of name: String = ""
    ) async throws {
        try await store.save(new.settings, of: name)
        _ = try await store.save(new, replacing: old, of: name)
    }

    @Test func `everything is read as it was stored`() async throws {
        #expect(try await store.contents().playlists == ["": .unread(SlideshowSettings())])
        var stored = playlist
        for (account, part) in playlist.parts { stored.read(account, part) }
        for name in ["", "kitchen"] {
            try await save(stored, of: name)
            #expect(try await store.contents().playlists[name] == playlist)
        }
        var later = playlist
        later.hide(id("3"), 6)
        later.cursor = nil
        try await save(later, replacing: playlist, of: "kitchen")
        let contents = try await store.contents()
        #expect(contents.playlists == ["": playlist, "kitchen": later])
        #expect(contents.names == ["kitchen"])
        try await store.delete("kitchen")
        #expect(try await store.contents().playlists == ["": playlist])
        for table in ["playlist", "playlist_part", "playlist_state"] {
            let rest = try await cache.run {
                try $0.exists("SELECT 1 FROM \(table) WHERE name <> ''")
            }
            #expect(!rest, "\(table)")
        }
    }

    @Test func `a playlist whose settings were lost is deleted at the start`() async throws {
        for name in ["", "kitchen"] { try await save(playlist, of: name) }
        try await data.run { try $0.execute("DELETE FROM slideshow") }
        #expect(try await store.contents().names.isEmpty)
        let names = try await cache.run { database in
            try database.all("SELECT DISTINCT name FROM playlist") { $0.text(0) }
        }
        #expect(names == [""])
    }

    @Test func `a playlist with photos of a logged-out account is deleted`() async throws {
        let (a, b) = (AccountID(stored: "a"), AccountID(stored: "b"))
        for name in ["", "kitchen"] { try await save(playlist, of: name) }
        #expect(try await store.contents(of: [a, b]).playlists[""]?.entries == playlist.entries)
        try await cache.run { try $0.execute("UPDATE playlist SET account = 'b' WHERE name = ''") }
        let contents = try await store.contents(of: [a])
        #expect(contents.playlists[""] == .unread(settings))
        #expect(contents.playlists["kitchen"]?.entries == playlist.entries)
        let hasRows = try await cache.run {
            try $0.exists("SELECT 1 FROM playlist_state WHERE name = ''")
        }
        #expect(!hasRows)
    }

    @Test func `a playlist that was read with other settings begins at the top`() async throws {
        try await save(playlist)
        var other = settings
        other.orientation = .any
        try await store.save(other, of: "")
        let read = try #require(try await store.contents().playlists[""])
        #expect(read.settings == other && read.current?.id == id("1"))
        #expect(read.cursor == "" && read.sourceIndex == 0 && read.changes.last == .cleared)
        // The photos after the current one do not follow.
        #expect(read.entries == playlist.entries.dropLast(2))
        var later = read
        later.advance(to: .init(id: id("5"), photo: Photo(id: PhotoID("5")), image: "/5"), key: 0)
        _ = try await store.save(later, replacing: read, of: "")
        #expect(try await store.contents().playlists[""]?.entries == later.entries)
    }

    @Test(arguments: ["position", "round"])
    func `a playlist with too large a number begins at the top`(column: String) async throws {
        try await save(playlist)
        try await cache.run { try $0.execute("UPDATE playlist_state SET \(column) = \(Int64.max)") }
        #expect(try await store.contents().playlists == ["": .unread(settings)])
    }

    @Test func `a photo hidden before the end of the process leaves the playlists`() async throws {
        try await save(playlist)
        // The first of these photos left the playlist before, and was shown again.
        let hidden = ["4", "1", "9"].map(id)
        try await store.change { (tables) throws(StorageError) in
            for (number, id) in hidden.enumerated() { try tables.hide(id, Int64(number) + 5) }
        }
        let contents = try await store.contents()
        #expect(contents.hidden.map(\.id) == hidden)
        let read = try #require(contents.playlists[""])
        #expect(read.current == nil && read.contains(id("4")) && read.hideNumber == 7)
    }

    @Test(arguments: [0, EIO])
    func `an image on a disk that fails counts as missing`(fault: Int32) async throws {
        let directory = try TemporaryDirectory()
        let image = try directory.write("x", to: "image.jpg")
        var contents = SlideshowStore.Contents()
        contents.playlists = [
            "": Playlist(
                current: .init(id: id("1"), photo: Photo(id: PhotoID("1")), image: image))
        ]
        let files = FileThreads(port: FileSystemPort(fault: { _ in fault }))
        await contents.findImages(files)
        #expect(contents.missingImages == (fault == 0 ? [] : [""]))
        unlink(image)
        await contents.findImages(files)
        #expect(contents.missingImages == [""])
    }

    @Test func `100,000 known photos are added, drawn and begun anew on disk`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("cache.sqlite")
        let cache = Store(path, .disposable, [SlideshowStore.cacheFormat])
        let store = SlideshowStore(data: data, cache: cache)
        var random = SeededRandom(seed: 1)
        var playlist = Playlist()
        playlist.settings.isShuffled = true
        func save(_ new: Playlist) async throws -> Int {
            let added = try await store.save(new, replacing: playlist, of: "")
            playlist = new
            playlist.changes = []
            return added
        }
        let clock = ContinuousClock()
        let adding = try await clock.measure {
            for page in 0..<100 {
                let ids = (0..<1000).map { PhotoID("\(page * 1000 + $0)") }
                var new = playlist
                let positions = ids.map { _ in new.randomPosition(isNew: false, using: &random) }
                new.changes = [.added(AccountID(stored: "a"), ids, positions: positions, pass: 1)]
                let added = try await save(new)
                #expect(added == 1000)
            }
        }
        func step() async throws {
            let found = try await store.waiting(playlist.next, of: "", limit: 200)
            let id = try #require(found.entries.first).id
            var new = playlist
            new.advance(
                to: .init(id: id, photo: Photo(id: id.photo), image: ""),
                key: Playlist.randomKey(using: &random))
            _ = try await save(new)
        }
        let drawing = try await clock.measure { for _ in 0..<100 { try await step() } }
        #expect(
            try await store.waiting(Playlist.positions(1), of: "", limit: 1000).entries.count == 100
        )
        // The photos that are left leave the source.
        try await cache.run { try $0.execute("DELETE FROM playlist WHERE round = 0") }
        let beginning = try await clock.measure {
            var new = playlist
            new.beginRound()
            _ = try await save(new)
            try await step()
        }
        print("100,000 photos: added in \(adding), 100 steps \(drawing), new round \(beginning)")
    }
}
