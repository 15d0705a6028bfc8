import ImageMetadata
import ProviderKit
import TestSupport
import Testing

@testable import EngineCore

/// The sizes of photos that a service does not state.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ImageSizeTests {
    /// Returns a service whose images have 30 × 20 pixels, and 300 × 200 in full size.
    private func fixture(_ sizes: [ImageSize]) async throws -> ServiceFixture {
        let fixture = try await ServiceFixture(["a", "b"]) { ports in
            ports.http.answer.update { answer in
                answer = { request in
                    let isFull = !request.url.contains("?") || request.url.hasSuffix("?full")
                    return HTTPResponse(
                        status: 200,
                        body: PNGFile.plain(0, width: isFull ? 300 : 30, height: isFull ? 200 : 20),
                        url: request.url)
                }
            }
        }
        fixture.update { $0.imageSizes = sizes }
        _ = try await fixture.page()
        return fixture
    }

    private func size(_ fixture: ServiceFixture) async throws -> [Int?] {
        let photo = try await fixture.account.photo("a")
        return [photo.width, photo.height]
    }

    @Test func `a fetched image states the size, which a refresh does not remove`() async throws {
        let fixture = try await fixture([.full])
        #expect(try await size(fixture) == [nil, nil])
        _ = try await fixture.account.imagePath("a", size: "thumb")
        #expect(try await size(fixture) == [300, 200])
        try await fixture.base.events.wait { events in
            events.contains { $0.hasPrefix("photos changed") } ? true : nil
        }
        _ = try await fixture.account.refreshFeed("")
        #expect(try await size(fixture) == [300, 200])
        let next = try await ServiceFixture(after: fixture)
        #expect(try await size(next) == [300, 200])
    }

    @Test func `a larger image replaces the size of a smaller one, not the reverse`() async throws {
        let fixture = try await fixture([.thumb, .full])
        _ = try await fixture.account.imagePath("a", size: "thumb")
        #expect(try await size(fixture) == [30, 20])
        _ = try await fixture.account.openImage("a", size: "full")
        #expect(try await size(fixture) == [300, 200])
        _ = try await fixture.account.imagePath("a", size: "thumb")
        #expect(try await size(fixture) == [300, 200])
    }

    @Test func `sizes with one address are fetched and stored once`() async throws {
        let fixture = try await fixture([.full])
        var paths: Set<String> = []
        for size in ImageSize.allCases {
            paths.insert(try await fixture.account.imagePath("a", size: size.rawValue))
        }
        #expect(paths.count == 1)
        #expect(fixture.ports.http.requests.value.count == 1)
    }
}
