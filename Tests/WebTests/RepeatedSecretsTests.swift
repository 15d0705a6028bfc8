import Testing
import Web

struct RepeatedSecretsTests {
    private static let secret = "aB3-_/x+9Kq0zZ.7"

    private func isFound(_ text: String, _ secret: String = secret, inParts: Bool = true) -> Bool {
        RepeatedSecrets([Secret(secret)], inParts: inParts).occur(in: text.utf8)
    }

    private static func escaped(_ form: (UInt8) -> String) -> String {
        secret.utf8.map(form).joined()
    }

    private static func hexadecimal(_ byte: UInt8, _ width: Int) -> String {
        let digits = String(byte, radix: 16)
        return String(repeating: "0", count: width - digits.count) + digits
    }

    private static func spaced(_ blank: String) -> String {
        secret.map { String($0) }.joined(separator: blank)
    }

    private static func encoded(_ prefix: String, _ suffix: String = "") -> String {
        Base64.encode(Array((prefix + secret + suffix).utf8))
    }

    private static let forms: [String] = {
        var forms = [secret, secret.uppercased()]
        forms += [" ", "\r\n\t", "\u{a0}", "\u{200b}", "&nbsp;", "%20", "\\n"].map(spaced)
        forms += ["\u{2003}", "\u{3000}", "\u{202f}", "\u{34f}", "\u{e0020}"].map(spaced)
        forms += ["&emsp;", "\\u3000", "%e3%80%80", "&#x34f;"].map(spaced)
        forms.append(escaped { "%" + hexadecimal($0, 2) })
        forms.append(escaped { "%25" + hexadecimal($0, 2).uppercased() })
        forms.append(escaped { "\\u" + hexadecimal($0, 4) })
        forms.append(escaped { "\\\\u" + hexadecimal($0, 4) })
        forms.append(escaped { "\\x" + hexadecimal($0, 2) })
        forms.append(escaped { "&#\($0);" })
        forms.append(escaped { "&#00\($0) " })
        forms.append(escaped { "&#x" + hexadecimal($0, 2) + ";" })
        forms.append(escaped { "&amp;#\($0);" })
        for (character, form) in [("/", "\\/"), ("/", "&sol;"), ("+", "%2B"), ("_", "&lowbar;")] {
            forms.append(
                secret.split(separator: Character(character)).joined(separator: form))
        }
        forms += [encoded(""), encoded("u:"), encoded("me:", "!"), encoded("ada:", "?!")]
        let address = Base64.encodedBytesForURL(Array("~~:\(secret)".utf8))
        forms.append(String(decoding: address, as: UTF8.self))
        forms.append(encoded("u:").map { String($0) }.joined(separator: "\\n"))
        return forms
    }()

    @Test(arguments: forms)
    func `a secret is found in each form`(text: String) {
        for whole in [text, "{\"message\":\"bad key <\(text)>\"}", "é\(text)\0"] {
            #expect(isFound(whole), "\(whole)")
            #expect(isFound(whole, inParts: false), "\(whole)")
        }
    }

    private static let marked: [String] =
        ["<!-- > -->", "<?x > ?>", "<b>", "</p><p lang=\"en\">", "\\u003cb>", "&lt;br&gt;"]
        .map(spaced) + [
            secret.map { "<![CDATA[\($0)]]>" }.joined(),
            "<![CDATA[a <b \(secret.prefix(5))]]><![CDATA[\(secret.dropFirst(5))]]>",
        ]

    @Test(arguments: marked)
    func `a secret is found if markup divides it`(text: String) {
        for whole in [text, "<s:message>5 < 6 \(text)</s:message>", "\(text) <!-- <b"] {
            #expect(isFound(whole, inParts: false), "\(whole)")
        }
    }

    @Test func `a part of a long secret is found`() {
        let secret = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
        #expect(isFound("The token 0123456789abcdefghijklmn… is unknown", secret))
        #expect(!isFound("…pqrstuvwxyzABCDEFG", secret))
        #expect(isFound("…ijklmnopqrstuvwxyzABCDEFG", secret))
        #expect(!isFound("The token 0123456789abcdefghijklmn… is unknown", secret, inParts: false))
    }

    @Test(arguments: [
        "", "Not found", "{\"error\":\"This action is not allowed\"}", "%", "%4", "\\", "\\u00",
        "&", "&#", "&#x;",
        "<", "<!", "<!--", "<![CDATA[", "]]>", "<?>", "<b", "&#99999999999;", "&#x110000;",
        String(repeating: "%25", count: 50),
    ])
    func `other texts contain no secret`(text: String) {
        #expect(!isFound(text))
        #expect(!isFound(text, "abc"))
        #expect(!isFound(text, ""))
    }
}
