import Testing

@testable import Web

struct InternationalNameTests {
    /// The samples of RFC 3492 §7.1, in lower case if the samples mark case.
    private static let samples: [(String, [UInt32], String)] = [
        (
            "A Arabic",
            [
                0x0644, 0x064a, 0x0647, 0x0645, 0x0627, 0x0628, 0x062a, 0x0643, 0x0644, 0x0645,
                0x0648, 0x0634, 0x0639, 0x0631, 0x0628, 0x064a, 0x061f,
            ], "egbpdaj6bu4bxfgehfvwxn"
        ),
        (
            "B Chinese, simplified",
            [0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d, 0x8bf4, 0x4e2d, 0x6587],
            "ihqwcrb4cv8a8dqg056pqjye"
        ),
        (
            "C Chinese, traditional",
            [0x4ed6, 0x5011, 0x7232, 0x4ec0, 0x9ebd, 0x4e0d, 0x8aaa, 0x4e2d, 0x6587],
            "ihqwctvzc91f659drss3x8bo0yb"
        ),
        (
            "D Czech",
            [
                0x50, 0x72, 0x6f, 0x10d, 0x70, 0x72, 0x6f, 0x73, 0x74, 0x11b, 0x6e, 0x65, 0x6d,
                0x6c, 0x75, 0x76, 0xed, 0x10d, 0x65, 0x73, 0x6b, 0x79,
            ], "Proprostnemluvesky-uyb24dma41a"
        ),
        (
            "E Hebrew",
            [
                0x05dc, 0x05de, 0x05d4, 0x05d4, 0x05dd, 0x05e4, 0x05e9, 0x05d5, 0x05d8, 0x05dc,
                0x05d0, 0x05de, 0x05d3, 0x05d1, 0x05e8, 0x05d9, 0x05dd, 0x05e2, 0x05d1, 0x05e8,
                0x05d9, 0x05ea,
            ], "4dbcagdahymbxekheh6e0a7fei0b"
        ),
        (
            "G Japanese",
            [
                0x306a, 0x305c, 0x307f, 0x3093, 0x306a, 0x65e5, 0x672c, 0x8a9e, 0x3092, 0x8a71,
                0x3057, 0x3066, 0x304f, 0x308c, 0x306a, 0x3044, 0x306e, 0x304b,
            ], "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"
        ),
        (
            "I Russian",
            [
                0x043f, 0x043e, 0x0447, 0x0435, 0x043c, 0x0443, 0x0436, 0x0435, 0x043e, 0x043d,
                0x0438, 0x043d, 0x0435, 0x0433, 0x043e, 0x0432, 0x043e, 0x0440, 0x044f, 0x0442,
                0x043f, 0x043e, 0x0440, 0x0443, 0x0441, 0x0441, 0x043a, 0x0438,
            ], "b1abfaaepdrnnbgefbadotcwatmq2g4l"
        ),
        (
            "K Vietnamese",
            [
                0x54, 0x1ea1, 0x69, 0x73, 0x61, 0x6f, 0x68, 0x1ecd, 0x6b, 0x68, 0xf4, 0x6e, 0x67,
                0x74, 0x68, 0x1ec3, 0x63, 0x68, 0x1ec9, 0x6e, 0xf3, 0x69, 0x74, 0x69, 0x1ebf, 0x6e,
                0x67, 0x56, 0x69, 0x1ec7, 0x74,
            ], "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"
        ),
        (
            "L 3<nen>B<gumi><kinpachi><sensei>",
            [0x33, 0x5e74, 0x42, 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f], "3B-ww4c5e180e575a65lsy2b"
        ),
        (
            "O Hello-Another-Way-<sorezore><no><basho>",
            [
                0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x2d, 0x41, 0x6e, 0x6f, 0x74, 0x68, 0x65, 0x72, 0x2d,
                0x57, 0x61, 0x79, 0x2d, 0x305d, 0x308c, 0x305e, 0x308c, 0x306e, 0x5834, 0x6240,
            ], "Hello-Another-Way--fc4qua05auwb3674vfr0b"
        ),
        (
            "P <hitotsu><yane><no><shita>2",
            [0x3072, 0x3068, 0x3064, 0x5c4b, 0x6839, 0x306e, 0x4e0b, 0x32],
            "2-u9tlzr9756bt3uc0v"
        ),
        (
            "Q Maji<de>Koi<suru>5<byou><mae>",
            [
                0x4d, 0x61, 0x6a, 0x69, 0x3067, 0x4b, 0x6f, 0x69, 0x3059, 0x308b, 0x35, 0x79d2,
                0x524d,
            ], "MajiKoi5-783gue6qz075azm5e"
        ),
        (
            "R <pafii>de<runba>",
            [0x30d1, 0x30d5, 0x30a3, 0x30fc, 0x64, 0x65, 0x30eb, 0x30f3, 0x30d0],
            "de-jg4avhby1noc0d"
        ),
        (
            "S <sono><supiido><de>", [0x305d, 0x306e, 0x30b9, 0x30d4, 0x30fc, 0x30c9, 0x3067],
            "d9juau41awczczp"
        ),
    ]

    @Test func `encoding a label matches the samples of RFC 3492`() {
        for (name, scalars, encoded) in Self.samples {
            #expect(Punycode.encode(scalars.compactMap(Unicode.Scalar.init)) == encoded, "\(name)")
        }
        #expect(Punycode.encode([]) == "")
        #expect(Punycode.encode(Array("abc".unicodeScalars)) == "abc-")
        #expect(Punycode.encode(Array(repeating: "\u{fc}", count: 64)) == nil)
    }

    @Test(arguments: [
        ("münchen.social", "xn--mnchen-3ya.social"), ("MÜNCHEN.Social", "xn--mnchen-3ya.social"),
        // Decomposed, as macOS writes it.
        ("mu\u{308}nchen.social", "xn--mnchen-3ya.social"),
        // Differs from IDNA 2003, because strasse.de is a different server.
        ("straße.de", "xn--strae-oqa.de"), ("βόλος.com", "xn--nxasmm1c.com"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"),
        ("उदाहरण.परीक्षा", "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g"),
        ("photos.example", "photos.example"), ("xn--mnchen-3ya.social", "xn--mnchen-3ya.social"),
    ])
    func `an internationalized name is converted to ASCII`(name: String, ascii: String) {
        #expect(InternationalName.ascii(Substring(name)) == ascii)
    }

    @Test(arguments: [
        // A compatibility form, a symbol, an invisible character, a mark at the start, a fraction slash, reserved
        // hyphens, a hyphen at an edge.
        "ｆull.example", "ﬁsh.example", "i♥.example", "a\u{200d}ü.example", "\u{301}a.example",
        "a⁄b.example", "ab--ü.example", "-ü.example", "ü-.example", "ü_.example", "ü .example",
        String(repeating: "ü", count: 64) + ".example",
    ])
    func `a name with characters that are invalid in labels is rejected`(name: String) {
        #expect(InternationalName.ascii(Substring(name)) == nil)
    }
}
