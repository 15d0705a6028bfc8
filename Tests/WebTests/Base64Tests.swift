import Testing

@testable import Web

struct Base64Tests {
    @Test func `decoding restores encoded bytes`() {
        for count in 0..<20 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 200) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        #expect(Base64.encode(Array("Image Feed".utf8)) == "SW1hZ2UgRmVlZA==")
        #expect(Base64.decode("SW1hZ2UgRmVlZA") == Array("Image Feed".utf8))
    }

    @Test(arguments: ["a", "ab$d", "Pz8_", "===="])
    func `an invalid text is not decoded`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"), ("ûÿ¾", "w7vDv8K-"), ("???", "Pz8_"),
    ])
    func `the encoding for addresses has no padding`(text: String, encoded: String) {
        let bytes = Base64.encodedBytesForURL(Array(text.utf8))
        #expect(String(decoding: bytes, as: UTF8.self) == encoded)
    }
}
