import EngineModel
import Glibc
import ProviderKit
import System
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.timeLimit(.minutes(10))) struct WalkTests {
    @Test(arguments: [SourceID.all, SourceID("album:x")])
    func `a walk returns each photo once while others change`(source: SourceID) async throws {
        let names = (100..<300).map { "x/\($0).jpg" }
        let folder = try await PhotosFixture.ready(names)
        let initial = Set(try await folder.photos(source).map(\.id))
        #expect(initial.count == 200)
        let first = try await folder.session.page(source, after: nil, count: 50)
        var walked = first.photos
        var cursor = first.next
        var round = 0
        var deleted: Set<PhotoID> = []
        while let position = cursor {
            // New photos at the top, and a deleted one. Known photos move to the top, to the bottom, and back.
            try folder.add("x/new\(round).jpg", seconds: 2_000_000 + round)
            PhotosFixture.touch(folder.path("x/\(110 + round).jpg"), seconds: 3_000_000 + round)
            PhotosFixture.touch(folder.path("x/\(290 + round).jpg"), seconds: 500 + round)
            PhotosFixture.touch(folder.path("x/\(295 - round).jpg"), seconds: 600 + round)
            deleted.insert(try await folder.id("\(100 + round)"))
            unlink(folder.path("x/\(100 + round).jpg"))
            _ = try await folder.session.refresh(.all)
            let page = try await folder.session.page(source, after: position, count: 20)
            #expect(!page.photos.isEmpty)
            walked += page.photos
            cursor = page.next
            round += 1
        }
        let ids = walked.map(\.id)
        #expect(Set(ids).count == ids.count)
        #expect(initial.subtracting(deleted).isSubset(of: ids))
        #expect(initial.isSuperset(of: ids))
    }

    @Test(arguments: [
        "", ".", "..", "1", "1.2", "1.2.3.4", "a.b.c", "1.2.-3", "9999999999999999999.1.1",
        "1. 2.3",
        "🦄",
    ])
    func `a malformed cursor is rejected`(cursor: String) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        await #expect(throws: ProviderError.invalidArgument("The cursor is malformed.")) {
            try await folder.session.page(.all, after: cursor, count: 10)
        }
    }

    @Test func `a cursor of a lost index is stale`() async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        await #expect(throws: ProviderError.staleCursor) {
            try await folder.session.page(.all, after: "1.2.3", count: 10)
        }
    }

    @Test(arguments: ["", "../x", "..", "0123456789abcde", "0123456789abcdef", "0123456789ABCDEF"])
    func `unknown photos are not found`(text: String) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg"])
        let id = PhotoID(text)
        let error = ProviderError.notFound("There is no photo \"\(text)\".")
        await #expect(throws: error) { try await folder.session.photo(id) }
        await #expect(throws: error) { try await folder.session.imagePath(id, .full) }
        await #expect(throws: error) { try await folder.session.openImage(id, .full) }
    }

    @Test(arguments: ["", "ALL", "album:", "album:none", "album:..", "album:../x", "album:%"])
    func `unknown sources are not found`(text: String) async throws {
        let folder = try PhotosFixture(photos: ["a.jpg", "x/b.jpg"])
        let source = SourceID(text)
        #expect(try await folder.session.hasSource(source) == false)
        let error = ProviderError.notFound("There is no source \"\(text)\".")
        await #expect(throws: error) { try await folder.session.page(source, after: nil, count: 1) }
        await #expect(throws: error) { try await folder.session.refresh(source) }
    }

    @Test func `the first page is served before a long scan ends`() async throws {
        let directory = try TemporaryDirectory()
        let root = directory.appending("home/Pictures")
        for index in 0..<20 {
            PhotosFixture.makeFolder("\(root)/\(index)")
            for photo in 0..<1000 {
                try PhotosFixture.write(PhotosFixture.jpeg, to: "\(root)/\(index)/\(photo)")
            }
        }
        // The scan reads the collected files after a second, and cannot end before it is released.
        let (calls, isHeld) = (Observed(0), Observed(true))
        defer { isHeld.update { $0 = false } }
        var limits = FileThreads.Limits()
        limits.timeout = .seconds(1000)
        let files = FileThreads(
            limits,
            port: FileSystemPort(fault: { path in
                guard path.starts(with: root.utf8) else { return 0 }
                var number = 0
                calls.update { count in
                    count += 1
                    number = count
                }
                if number == 2_000 { usleep(1_200_000) }
                while number > 12_000, isHeld.value { usleep(1000) }
                return 0
            }))
        let folder = try PhotosFixture(directory, files: files)
        let page = try await folder.session.page(.all, after: nil, count: 30)
        #expect(page.photos.count == 30)
        let isReady = folder.events.value.contains { $0.isReady }
        #expect(!isReady)
        isHeld.update { $0 = false }
        // A short page does not end a walk while the scan continues.
        let album = SourceID("album:0")
        #expect(try await folder.session.page(album, after: nil, count: 5).next != nil)
        try await folder.ready()
        #expect(try await folder.photos().count == 20_000)
    }
}
