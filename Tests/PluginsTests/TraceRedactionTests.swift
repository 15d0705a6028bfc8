import JSONFormat
import PluginProtocol
import ProviderKit
import Testing

@testable import Plugins

/// The texts and messages that a trace shows.
struct TraceRedactionTests {
    private let redaction = TraceRedaction(
        secretSettings: ["Flavour"], secrets: [Secret("tok/en+1")])

    @Test(arguments: [
        ("nothing to hide", "nothing to hide"),
        ("a tok/en+1 b tok/en+1", "a (secret) b (secret)"),
        (
            "https://a.example/?access_token=x&page=2",
            "https://a.example/?access_token=(secret)&page=2"
        ),
        ("https://a.example/?page_token=x#key=y", "https://a.example/?page_token=x#key=(secret)"),
        ("client_id=a&client_secret=b&code=c", "client_id=a&client_secret=(secret)&code=(secret)"),
        ("Authorization: Bearer abcdefgh, b", "Authorization: Bearer (secret), b"),
        ("Basic colours", "Basic colours"),
        (
            #"{"access_token": "x", "token_url": "y", "n": 1}"#,
            #"{"access_token": "(secret)", "token_url": "y", "n": 1}"#
        ),
        (#"{"a": "x=1", "api_key": 7}"#, #"{"a": "x=1", "api_key": 7}"#),
        ("{ not JSON, password=x", "{ not JSON, password=(secret)"),
        (#"{"cut": 1, "id_token" : "abc"#, #"{"cut": 1, "id_token" : "(secret)"#),
        (#"{"a":"{\"password\":\"abc\",\"b\":\"c"#, #"{"a":"{\"password\":\"(secret)\",\"b\":\"c"#),
        (#"{"password": "", "n": "p"}"#, #"{"password": "", "n": "p"}"#),
        (#"{"password": "a\"b\\", "n": "p"}"#, #"{"password": "(secret)", "n": "p"}"#),
        (
            #"{"a":"{\"password\":\"b\\\"c\\\\\",\"n\":\"p\"}"}"#,
            #"{"a":"{\"password\":\"(secret)\",\"n\":\"p\"}"}"#
        ),
        (#"{"a":"say \"password=x\" aloud"}"#, #"{"a":"say \"password=(secret)\" aloud"}"#),
        (
            #"[[ "Cookie", "x" ],["Accept","y"],"Cookie","z"]"#,
            #"[[ "Cookie", "(secret)" ],["Accept","y"],"Cookie","z"]"#
        ),
        (#"{"a":"[[\"Cookie\",\"x\"]]"}"#, #"{"a":"[[\"Cookie\",\"(secret)\"]]"}"#),
        (#"tok\/en+1 and tok\\/en+1"#, "(secret) and (secret)"),
        ("?a=tok%2Fen%2B1&b=tok%2fen%2b1", "?a=(secret)&b=(secret)"),
        (#"{"tok/en+1":{"a":"tok/en+1"}}"#, #"{"(secret)":{"a":"(secret)"}}"#),
    ])
    func `a text is shown without secrets`(text: String, shown: String) {
        #expect(redaction.text(text) == shown)
    }

    @Test func `header fields, members and settings are shown without secrets`() {
        let request: JSON = [
            "method": "http",
            "params": [
                "headers": .array([
                    .array(["Authorization", "x"]), .array(["X-Api-Key", "y"]),
                    .array(["Accept", "z"]),
                ]), "body": #"{"password":"p"}"#,
            ],
        ]
        #expect(
            redaction.message(request) == [
                "method": "http",
                "params": [
                    "headers": .array([
                        .array(["Authorization", "(secret)"]), .array(["X-Api-Key", "(secret)"]),
                        .array(["Accept", "z"]),
                    ]), "body": #"{"password":"(secret)"}"#,
                ],
            ])
        let start: JSON = [
            "method": "initialize",
            "params": ["settings": ["Flavour": "a", "MyKey": "b", "Title": "c"]],
        ]
        #expect(
            redaction.message(start) == [
                "method": "initialize",
                "params": [
                    "settings": ["Flavour": "(secret)", "MyKey": "(secret)", "Title": "c"]
                ],
            ])
    }

    @Test func `a body that is not text is left out if it contains a secret`() {
        let secret: JSON = [
            "body_base64": .string(Base64.encode([255] + Array("tok/en+1".utf8)))
        ]
        #expect(redaction.message(secret) == ["body_base64": "(secret)"])
        let other: JSON = ["body_base64": .string(Base64.encode([255, 0]))]
        #expect(redaction.message(other) == other)
    }
}
