import Testing

@testable import Web

struct InternationalNameTests {
    /// The samples of RFC 3492 §7.1, in lower case if the samples mark case.
    private static let samples = [
        ("A Arabic", "ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
        ("B Chinese, simplified", "他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("C Chinese, traditional", "他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
        ("D Czech", "Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
        ("E Hebrew", "למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("G Japanese", "なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
        ("I Russian", "почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        (
            "K Vietnamese", "TạisaohọkhôngthểchỉnóitiếngViệt",
            "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"
        ),
        ("L 3<nen>B<gumi><kinpachi><sensei>", "3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
        (
            "O Hello-Another-Way-<sorezore><no><basho>", "Hello-Another-Way-それぞれの場所",
            "Hello-Another-Way--fc4qua05auwb3674vfr0b"
        ),
        ("P <hitotsu><yane><no><shita>2", "ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
        ("Q Maji<de>Koi<suru>5<byou><mae>", "MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"),
        ("R <pafii>de<runba>", "パフィーdeルンバ", "de-jg4avhby1noc0d"),
        ("S <sono><supiido><de>", "そのスピードで", "d9juau41awczczp"),
    ]

    @Test func `encoding a label matches the samples of RFC 3492`() {
        for (name, label, encoded) in Self.samples {
            #expect(Punycode.encode(Array(label.unicodeScalars)) == encoded, "\(name)")
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
