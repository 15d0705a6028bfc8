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
        var shown = [fixture.current]
        var (arrived, removed, steps) = (0, 0, 0)
        while shown.count < 1000 + arrived - removed, steps < 2000 {
            steps += 1
            shown.append(try await fixture.next())
            if steps % 15 == 0, arrived < 50 {
                arrived += 1
                let prepared = fixture.slideshow.candidate?.shown.id.photo.text
                let added = fixture.photos.add("new\(arrived)", to: 0)
                fixture.slideshow.reader.photosAdded(account, [added.photo])
                await fixture.arrive()
                // The photo that was already fetched precedes the new one.
                let next = try await fixture.next(2)
                #expect(next == [prepared, "new\(arrived)"])
                shown += next
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
        #expect(Set(shown).count == shown.count)
        #expect(arrived == 50 && removed == 20)
        let repeated = try await fixture.next()
        #expect(shown.contains(repeated))
    }
}
