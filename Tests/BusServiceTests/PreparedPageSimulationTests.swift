import Contract
import TestSupport
import Testing

@testable import BusService
@testable import EngineCore

/// Random changes of a service, after each of which a client that has read pages refreshes and reads them again.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct PreparedPageSimulationTests {
    private enum Change: CaseIterable {
        case add, addAgain, deleteNewest, delete, move, reverse
    }

    @Test func `a prepared page never outlives a change`() async throws {
        for seed in Simulation.seeds(12) { try await run(seed) }
    }

    private func run(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        var photos = (0..<6).map { "p\(6 - $0)" }
        let fixture = try await FeedFixture(photos: photos)
        fixture.engine.setRefreshInterval(.zero)
        let pageSize = Int.random(in: 3...40, using: &random)
        fixture.service.update("ada") { $0.pageSize = pageSize }
        let client = try fixture.connect()
        try await client.listen()
        var number = 6
        var deleted: [String] = []
        for step in 0..<12 {
            // The first page and the newest photo are prepared.
            for count in [1, 30] as [UInt32] { _ = try await client.ids(count: count) }
            let before = photos
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                switch Change.allCases.randomElement(using: &random) ?? .add {
                case .add:
                    number += 1
                    photos.insert("p\(number)", at: 0)
                case .addAgain:
                    if let photo = deleted.popLast() { photos.insert(photo, at: 0) }
                case .deleteNewest where photos.count > 4: deleted.append(photos.removeFirst())
                case .delete where photos.count > 4:
                    let index = Int.random(in: 0..<photos.count, using: &random)
                    deleted.append(photos.remove(at: index))
                case .move:
                    let photo = photos.remove(
                        at: Int.random(in: 0..<photos.count, using: &random))
                    photos.insert(photo, at: Int.random(in: 0...photos.count, using: &random))
                case .reverse where pageSize >= 30: photos.reverse()
                case .deleteNewest, .delete, .reverse: break
                }
            }
            fixture.service.update("ada") { [photos] in
                $0.photos = photos.map { (id: $0, created: 0) }
            }
            let updates = client.updates.value.count
            _ = try await client.account.refresh("")
            let newest = try await client.ids(count: 1)
            #expect(newest == [photos[0]], "seed \(seed), step \(step)")
            // Without keys, only a page that shares most photos with the cache is certain.
            guard pageSize >= 30 else { continue }
            #expect(try await client.ids() == photos, "seed \(seed), step \(step)")
            if photos != before {
                try await client.updates.wait { $0.count > updates ? true : nil }
            }
        }
    }
}
