import ProviderKit
import TestSupport
import Testing

@testable import ImmichProvider

/// Tests of the addresses that users enter.
struct ServerAddressTests {
    @Test(arguments: [
        ("photos.example.org", "https://photos.example.org", "photos.example.org"),
        ("https://photos.example.org/", "https://photos.example.org", "photos.example.org"),
        (
            "https://photos.example.org/photos?a=b#c", "https://photos.example.org",
            "photos.example.org"
        ),
        ("https://photos.example.org:443/api", "https://photos.example.org", "photos.example.org"),
        ("photos.example.org:8443", "https://photos.example.org:8443", "photos.example.org:8443"),
        ("nas.lan", "https://nas.lan", "nas.lan"), ("nas", "https://nas", "nas"),
        ("192.168.1.2:2283", "https://192.168.1.2:2283", "192.168.1.2:2283"),
        ("http://192.168.1.2:2283/api/", "http://192.168.1.2:2283", "http://192.168.1.2:2283"),
        ("http://nas.local", "http://nas.local", "http://nas.local"),
        ("b\u{fc}cher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"),
        (
            "http://B\u{fc}cher.example:2283/photos", "http://xn--bcher-kva.example:2283",
            "http://xn--bcher-kva.example:2283"
        ),
        ("http://[fd00::1]:2283", "http://[fd00::1]:2283", "http://[fd00::1]:2283"),
        ("http://[0:0:0:0:0:0:0:1]:2283", "http://[::1]:2283", "http://[::1]:2283"),
        ("http://[FD00::0001]", "http://[fd00::1]", "http://[fd00::1]"),
        ("http://127.1:2283", "http://127.0.0.1:2283", "http://127.0.0.1:2283"),
        ("http://2130706433", "http://127.0.0.1", "http://127.0.0.1"),
    ])
    func `an address has an origin and a name`(text: String, origin: String, name: String) throws {
        let address = try ServerAddress(text)
        #expect((address.origin, address.name) == (origin, name))
        // The name is the server of stored accounts.
        #expect(try ServerAddress(name) == address)
        let access = try ImmichProvider().access(ProviderSettings(), server: text)
        #expect((access.keyOrigins, access.namedOrigins) == ([origin], [origin]))
    }

    @Test(arguments: [
        " ", "ftp://photos.example.org", "https://", "https://ada:secret@photos.example.org",
        "photos example", "file:///etc/passwd", "http://photos.example.org:0",
    ])
    func `an invalid address is rejected without its password`(text: String) throws {
        #expect { try ServerAddress(text) } throws: { error in
            if case ProviderError.invalidArgument(let text) = error {
                !text.contains("secret")
            } else {
                false
            }
        }
    }

    @Test func `two spellings of an address identify the same account`() async throws {
        let id = "00000000-0000-4000-8000-000000000009"
        let http = ScriptedHTTP { _ in
            .json(#"{"id":"\#(id)","email":"ada@photos.example","name":"Ada"}"#)
        }
        let expected = AccountIdentity(
            username: "ada@photos.example", server: "photos.example", userID: id)
        for text in ["photos.example", "https://photos.example/photos", "photos.example:443"] {
            let account = AccountIdentity(username: "", server: text)
            #expect(try await ImmichProvider().identify(account, SessionPorts(http)) == expected)
        }
        #expect(Set(http.requests.value.map(\.url)) == ["https://photos.example/api/users/me"])
    }
}
