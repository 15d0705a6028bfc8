import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import SlideshowCore

/// A test of a long slideshow, which occupies the main actor. Beside it, other tests would exceed their time limits.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SlideshowLoadTests {
    @Test func `1,000 shuffled photos with arrivals and removals repeat nothing`() async throws {
        let fixture = SlideshowFixture(
            FakeSlideshowPhotos(["local_ada": (1...1000).map { "p\($0)" }]))
        try await fixture.slideshow.setShuffled(true)
        try await fixture.attach()
        let account = AccountID(stored: "local_ada")
        var shown: Set<String> = [fixture.current]
        var arrived = 0
        var removed = 0
        var steps = 0
        while shown.count < 1000 + arrived - removed, steps < 2000 {
            steps += 1
            let photo = try await fixture.next()
            let isNew1 = shown.insert(photo).inserted
            #expect(isNew1, "\(photo) was repeated")
            if steps % 15 == 0, arrived < 50 {
                arrived += 1
                let prepared = fixture.slideshow.candidate?.shown.id.photo.text
                let added = fixture.photos.add("new\(arrived)", to: 0)
                fixture.slideshow.reader.photosAdded(account, [added.photo])
                await fixture.arrive()
                // The photo that was already fetched precedes the new one.
                let next = try await fixture.next()
                #expect(next == prepared)
                let isNew2 = shown.insert(next).inserted
                #expect(isNew2)
                let new = try await fixture.next()
                #expect(new == "new\(arrived)")
                let isNew3 = shown.insert(new).inserted
                #expect(isNew3)
            }
            if steps % 40 == 0, removed < 20,
                let victim = fixture.photos.accounts[0].photos.keys.first(where: {
                    !shown.contains($0.text)
                })
            {
                removed += 1
                fixture.photos.accounts[0].photos[victim] = nil
                await fixture.slideshow.removePhotos([CombinedPhotoID(account, victim)])
            }
        }
        #expect(arrived == 50 && removed == 20)
        let repeated = try await fixture.next()
        #expect(shown.contains(repeated))
    }
}
