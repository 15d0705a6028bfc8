import ProviderKit
import Testing

@testable import Engine

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
