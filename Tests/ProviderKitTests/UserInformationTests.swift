import ProviderKit
import Testing

struct UserInformationTests {
    @Test(arguments: [
        ("https://bob:secret@host/path", "https://…@host/path"),
        ("https://bob:pa#ss@host", "https://…@host"), ("https://bob:pa/ss@host", "https://…@host"),
        ("bob:secret@host", "…@host"), ("https://token@host/", "https://…@host/"),
        ("ftp://bob:a@b@host", "ftp://…@host"),
    ])
    func `user information is removed from addresses`(text: String, shown: String) {
        #expect(text.withoutUserInformation == shown)
        #expect(HTTPRequest(.get, text).description == "GET \(shown)")
    }

    @Test(arguments: [
        "@ada@photos.example", "ada@photos.example", "https://photos.example/@ada",
        "photos.example",
        "", "@", "https://photos.example/a:b",
    ])
    func `handles and addresses without user information are not changed`(text: String) {
        #expect(text.withoutUserInformation == text)
    }

    @Test(arguments: [
        "https://bob:secret@not_a_server", "ftp://bob:secret@host", "bob:secret@", "bob:sec/ret@-",
    ])
    func `an error about a server name contains no password`(text: String) {
        let error = #expect(throws: ProviderError.self) { try ServerName(text) }
        #expect(error.map { !"\($0)".contains("sec") } == true)
    }
}
