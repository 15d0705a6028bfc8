import Quoting
import Testing

struct RawTextTests {
    @Test(
        arguments: [
            [], Array("ä€😀".utf8), [0xE9], Array("a".utf8) + [0xC3], [0xF4, 0x8F, 0xB9, 0xA9],
            [0xE2, 0x82, 0x41], [0xFF, 0xFE, 0x80], [0xED, 0xA0, 0x80],
        ] as [[UInt8]])
    func `bytes are restored from their text form`(bytes: [UInt8]) {
        #expect(RawText.bytes(of: RawText.text(of: bytes)) == bytes)
    }

    @Test func `valid UTF-8 is not changed`() {
        #expect(RawText.text(of: Array("/ä €".utf8)) == "/ä €")
        #expect(RawText.text(of: [0x2F, 0xE9]) != "/\u{FFFD}")
    }
}
