import TestSupport
import Testing
import UnsplashSimulator

@Suite(.timeLimit(.minutes(10)))
struct ImageTests {
    private let unsplash: SimulatedUnsplash

    init() throws { unsplash = try .start() }

    private func urls() async throws -> Document {
        try #require(try await unsplash.send("/photos").document.elements.first?["urls"])
    }

    private func image(_ url: String) async throws -> LoopbackClient.Response {
        try await LoopbackClient.send("GET", url)
    }

    /// Returns the size in the frame header of a JPEG file.
    private func size(_ file: [UInt8]) -> [Int]? {
        var position = 2
        while position + 9 < file.count, file[position] == 0xff {
            if file[position + 1] == 0xc0 {
                let size = file[(position + 5)..<(position + 9)].map(Int.init)
                return [size[2] << 8 | size[3], size[0] << 8 | size[1]]
            }
            position += 2 + Int(file[position + 2]) << 8 + Int(file[position + 3])
        }
        return nil
    }

    @Test func `images have the size of their address`() async throws {
        let photo = unsplash.publish { ($0.width, $0.height) = (5472, 3648) }
        let urls = try await urls()
        for (name, width, height) in [
            ("full", 5472, 3648), ("regular", 1080, 720), ("small", 400, 267), ("thumb", 200, 133),
        ] {
            let url = try #require(urls[name]?.string)
            #expect(url.hasPrefix(unsplash.imagesURL + photo.imagePath))
            let response = try await image(url)
            #expect(response["Content-Type"] == "image/jpeg")
            #expect(response.body.starts(with: [0xff, 0xd8, 0xff]))
            #expect(response.body.suffix(2) == [0xff, 0xd9])
            #expect(size(response.body) == [width, height])
        }
        let raw = try #require(urls["raw"]?.string)
        #expect(try await size(image(raw + "&w=90&h=30&fit=crop").body) == [90, 30])
        #expect(try await size(image(raw + "&w=9000&fit=max").body) == [5472, 3648])
        #expect(try await size(image(raw + "&w=100&dpr=2").body) == [200, 133])
    }

    @Test func `an image without ixid is rejected`() async throws {
        let url = try #require(try await urls()["raw"]?.string)
        #expect(try await image(String(url.prefix { $0 != "?" }) + "?w=100").status == 400)
        #expect(try await image(unsplash.imagesURL + "/photo-1?ixid=a").status == 404)
    }

    @Test func `avatars require no ixid`() async throws {
        let user = try await unsplash.send("/users/lin").document
        let url = try #require(user["profile_image"]?["medium"]?.string)
        #expect(try await size(image(url).body) == [64, 64])
    }

    @Test func `requests to the storage are recorded`() async throws {
        let url = try #require(try await urls()["small_s3"]?.string)
        #expect(try await image(url).status == 200)
        #expect(unsplash.requests(on: .storage).count == 1)
    }

    @Test func `a download is counted if it has its ixid`() async throws {
        let photo = try #require(unsplash.feed.first)
        let links = try await unsplash.send("/photos").document.elements.first?["links"]
        let address = try #require(links?["download_location"]?.string)
        let path = String(address.dropFirst(unsplash.apiURL.count))
        #expect(path.contains("?ixid="))
        #expect(try await unsplash.send(path).status == 200)
        #expect(unsplash.downloads(of: photo.id) == 1)
        #expect(try await unsplash.send(String(path.prefix { $0 != "?" })).status == 400)
        #expect(unsplash.downloads(of: photo.id) == 1)
    }

    @Test func `an image may be replaced by a page`() async throws {
        let url = try #require(try await urls()["raw"]?.string)
        unsplash.fail("/photo-*", .htmlPage, times: 1)
        unsplash.fail("/premium_photo-*", .htmlPage, times: 1)
        unsplash.fail("/5/*", .htmlPage, times: 1)
        #expect(try await image(url)["Content-Type"] == "text/html; charset=utf-8")
    }
}
