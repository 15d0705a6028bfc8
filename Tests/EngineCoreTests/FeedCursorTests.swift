import EngineModel
import ProviderKit
import Testing

@Suite struct FeedCursorTests {
    private static let account = AccountID(stored: "local_ada")
    private static let all = SourceID("all")

    @Test func `a cursor contains the page token of the provider`() throws {
        let text = Self.account.cursor(at: "1.2.3", in: Self.all)
        let position = try Self.account.position(of: text, in: Self.all)
        #expect(position == "1.2.3")
    }

    @Test(arguments: ["", "garbage", "../..", "0123456789abcdef", "0123456789abcdef1.2.3"])
    func `invalid text is rejected as a cursor`(text: String) {
        #expect(throws: ProviderError.self) {
            try Self.account.position(of: text, in: Self.all)
        }
    }

    @Test func `a cursor of another source or account is refused`() {
        let text = Self.account.cursor(at: "1.2.3", in: Self.all)
        #expect(throws: ProviderError.self) {
            try Self.account.position(of: text, in: SourceID("album:a"))
        }
        #expect(throws: ProviderError.self) {
            try AccountID(stored: "local_bob").position(of: text, in: Self.all)
        }
    }
}

/// Tests of the IDs of photos of the combined account.
struct CombinedPhotoIDTests {
    @Test(arguments: [
        ("local_ada/7", "local_ada", "7"), ("a/b/c", "a", "b/c"), ("/7", "", ""), ("a/", "", ""),
        ("a", "", ""), ("", "", ""),
    ])
    func `an ID consists of an account and a photo`(text: String, account: String, photo: String) {
        let id = CombinedPhotoID(text)
        #expect(id?.account.text ?? "" == account)
        #expect(id?.photo.text ?? "" == photo)
        if let id { #expect(id.text == text) }
    }
}
