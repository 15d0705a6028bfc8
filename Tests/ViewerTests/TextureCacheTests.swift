import Testing

@testable import Viewer

@Suite struct TextureCacheTests {
    @Test func `the images that were not used for the longest time leave first`() {
        var cache = TextureCache<Int, String>(limitBytes: 100)
        for number in 0..<10 { cache.insert("\(number)", number, byteCount: 10) }
        #expect(cache.value(0) == "0")
        cache.insert("10", 10, byteCount: 10)
        #expect(cache.byteCount <= 100)
        #expect(cache.value(0) == "0")
        #expect(cache.value(10) == "10")
        #expect(cache.value(1) == nil)
    }

    @Test func `an image that is inserted again counts once`() {
        var cache = TextureCache<Int, String>(limitBytes: 100)
        for _ in 0..<5 { cache.insert("a", 1, byteCount: 30) }
        #expect(cache.byteCount == 30)
    }
}
