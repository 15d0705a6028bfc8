import Testing

@testable import Viewer

@Suite struct BlurHashTests {
    @Test func `a hash with one component is its average color`() throws {
        // "00" for 1 × 1 components, and the base 83 digits of 0xff8000.
        let value = 0xff8000
        let digits = Array(
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
        let text = (0..<4).reversed().map { power in
            digits[value / (0..<power).reduce(1) { product, _ in product * 83 } % 83]
        }
        let hash = try #require(BlurHash("00" + String(text)))
        #expect(hash.pixels(width: 2, height: 1) == [255, 128, 0, 255, 128, 0])
    }

    @Test func `the example of the specification is decoded`() throws {
        let hash = try #require(BlurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj"))
        let pixels = hash.pixels(width: 32, height: 32)
        #expect(pixels.count == 32 * 32 * 3)
        #expect(Set(pixels).count > 20)
    }

    @Test(arguments: [
        "", "00", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj", "ä0000000",
        "~~~~~~",
    ])
    func `an invalid hash is refused`(_ text: String) {
        #expect(BlurHash(text) == nil)
    }
}
