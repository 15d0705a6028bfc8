import JSONFormat
import ProviderKit
import TestSupport
import Testing

@testable import UnsplashProvider

struct PhotoTests {
    private static func mapping(_ settings: [String: String] = [:]) throws -> ModelMapping {
        ModelMapping(settings: try UnsplashSettings(ProviderSettings(settings)))
    }

    /// Decodes and maps a photo with the required and some additional fields.
    private static func photo(
        _ fields: String = "", urls: String = #"{"full":"https://images.unsplash.com/a?ixid=M3w"}"#,
        settings: [String: String] = [:]
    ) throws -> RemotePhoto? {
        let json = #"[{"id":"_yT_vva8zSc","urls":\#(urls)\#(fields.isEmpty ? "" : ",")\#(fields)}]"#
        let list = try list(Array(json.utf8))
        return try list.elements.first.flatMap { try mapping(settings).photo($0) }
    }

    /// A photo with the fields that do not depend on the response.
    private static func plain(_ id: String) -> Photo {
        var photo = Photo(id: PhotoID(id))
        photo.url = "https://unsplash.com/photos/\(id)?utm_source=image_feed&utm_medium=referral"
        photo.license = "Unsplash License"
        photo.licenseURL = "https://unsplash.com/license"
        return photo
    }

    private static func list(_ body: [UInt8]) throws -> LenientList<PhotoRecord> {
        try #require(JSON.decode(body))
    }

    @Test(arguments: [
        "photos_list_2019_page1_promoted_at", "photos_list_2021_page1_prod",
        "photos_list_latest_page1", "user_likes_page1", "collection_photos_2021",
    ])
    func `every photo of a recorded list is mapped`(name: String) throws {
        let list = try Self.list(recordings.body(name))
        #expect(list.elements.count >= 2)
        for record in list.elements {
            let remote = try #require(try Self.mapping().photo(record))
            #expect(Set(remote.images.keys) == Set(ImageSize.allCases))
            let host = "https://images.unsplash.com/"
            #expect(remote.images.values.allSatisfy { $0.hasPrefix(host) })
            #expect(remote.photo.created != nil && remote.photo.updated != nil)
            #expect((remote.photo.width ?? 0) > 0 && (remote.photo.height ?? 0) > 0)
            #expect(remote.photo.author?.isEmpty == false)
            #expect((remote.photo.mediaType, remote.hasLikeState) == ("image/jpeg", true))
            for link in [remote.photo.url, remote.photo.authorURL] {
                #expect(link?.hasSuffix("?utm_source=image_feed&utm_medium=referral") == true)
            }
            #expect(remote.note.hasPrefix("https://api.unsplash.com/photos/"))
        }
    }

    @Test func `all fields of a recorded photo are mapped`() throws {
        let list = try Self.list(recordings.body("photos_list_2021_page1_prod"))
        let first = try #require(list.elements.first)
        let remote = try #require(try Self.mapping().photo(first))
        var photo = Self.plain("uI-fScjuXnI")
        photo.created = Timestamp(rfc3339: "2021-01-19T22:35:55Z")
        photo.updated = Timestamp(rfc3339: "2021-04-11T14:31:09Z")
        photo.width = 8063
        photo.height = 5375
        photo.color = "#d9c0c0"
        photo.blurHash = "LPKmnO9w57o#0K9FNJS2JUtRsonN"
        photo.description = "A woman looking at a contract on DocuSign from a iPhone"
        photo.author = "DocuSign"
        photo.authorUsername = "docusign"
        photo.authorURL = "https://unsplash.com/@docusign?utm_source=image_feed&utm_medium=referral"
        photo.likes = 153
        photo.mediaType = "image/jpeg"
        #expect(remote.photo == photo)
        #expect(
            remote.note
                == "https://api.unsplash.com/photos/uI-fScjuXnI/download?ixid=MnwxMTEwMDh8MXwxfGFsbHwxfHx8fHx8Mnx8MTYxODE1MzgzMA"
        )
        #expect(remote.images[.thumb]?.contains("ixid=MnwxMTEwMDh8MXwxfGFs") == true)
    }

    @Test(arguments: ["photo_detail_bearer", "photos_random_2023"])
    func `a recorded photo with all fields is mapped`(name: String) throws {
        let record = try #require(JSON.decode(recordings.body(name)) as PhotoRecord?)
        let remote = try #require(try Self.mapping().photo(record))
        #expect(remote.photo.author != nil)
        #expect(remote.images.count == 4)
    }

    @Test func `numbers in text form are decoded`() throws {
        let photo = try Self.photo(#""width":"4000","height":"3000","likes":"7""#)?.photo
        #expect((photo?.width, photo?.height, photo?.likes) == (4000, 3000, 7))
    }

    @Test func `the ID and the addresses are sufficient`() throws {
        let remote = try #require(try Self.photo())
        #expect(remote.images == [.full: "https://images.unsplash.com/a?ixid=M3w"])
        #expect(remote.note.isEmpty)
        #expect(!remote.hasLikeState)
        // The attribution does not depend on the response.
        #expect(remote.photo == Self.plain("_yT_vva8zSc"))
    }

    @Test(arguments: [
        #""width":"9px","height":-4,"color":7,"blur_hash":[],"description":{},"alt_description":1"#,
        #""width":0,"height":1e99,"color":"red","blur_hash":"no\u0000hash","description":"","alt_description":" ""#,
        #""created_at":"soon","updated_at":0,"likes":-1,"liked_by_user":"yes","user":[],"links":"x""#,
        #""created_at":{},"likes":99999999999999999999,"liked_by_user":null,"user":null,"links":{"html":7}"#,
        #""user":{"username":7,"name":null,"links":[]},"links":{"html":"javascript:alert(1)"}"#,
        ##""description":["a"],"premium":"no","plus":null,"asset_type":7,"color":"#12345g""##,
    ])
    func `an invalid field is ignored`(fields: String) throws {
        let remote = try #require(try Self.photo(fields))
        #expect(remote.photo == Self.plain("_yT_vva8zSc"))
    }

    @Test(arguments: [
        (#""premium":true"#, false), (#""plus":true"#, false),
        (#""asset_type":"illustration""#, false),
        (#""asset_type":"photo","premium":false,"plus":false"#, true),
        (#""asset_type":null"#, true), (#""sponsorship":{"tagline":"x"}"#, true),
    ])
    func `illustrations and paid photos are omitted`(
        fields: String, isShown: Bool
    ) throws { #expect(try (Self.photo(fields) != nil) == isShown) }

    @Test(arguments: [
        #"{}"#, #"{"full":null}"#, #"{"full":"http://images.unsplash.com/a"}"#, #"null"#, #"[]"#,
        #"{"full":"https://localhost/a"}"#, #"{"full":"http://127.0.0.1/a"}"#,
        #"{"small_s3":"https://s3.amazonaws.com/a"}"#, #"{"full":"file:///etc/passwd"}"#,
        #"{"full":"https://user@images.unsplash.com/a"}"#,
        #"{"raw":"https://images.unsplash.com/a"}"#,
    ])
    func `a photo without a valid address is omitted`(urls: String) throws {
        #expect(try Self.photo(urls: urls) == nil)
    }

    @Test func `loopback images require a loopback API`() throws {
        let urls = #"{"full":"http://127.0.0.1:9/a","thumb":"http://10.0.0.1/a"}"#
        let settings = ["ApiUrl": "http://127.0.0.1:8", "WebUrl": "http://127.0.0.1:8"]
        let remote = try #require(try Self.photo(urls: urls, settings: settings))
        #expect(remote.images == [.full: "http://127.0.0.1:9/a"])
        #expect(remote.photo.url?.hasPrefix("http://127.0.0.1:8/photos/_yT_vva8zSc?utm") == true)
    }

    @Test(arguments: [
        ("https://unsplash.com/photos/a", "https://unsplash.com/photos/a?"),
        ("https://unsplash.com/photos/a?", "https://unsplash.com/photos/a?"),
        ("https://unsplash.com/a?x=1&ixid=M3w", "https://unsplash.com/a?x=1&ixid=M3w&"),
        ("https://unsplash.com/a?utm_source=you&x&utm_medium=z", "https://unsplash.com/a?x&"),
        ("https://unsplash.com/a#top", "https://unsplash.com/a?"),
    ])
    func `links have the attribution before their fragment, and keep their query`(
        text: String, start: String
    ) throws {
        let fields = """
            "links":{"html":"\(text)"},"user":{"username":"ada","links":{"html":"\(text)"}}
            """
        let photo = try #require(try Self.photo(fields)).photo
        let fragment = text.hasSuffix("#top") ? "#top" : ""
        #expect(photo.url == start + "utm_source=image_feed&utm_medium=referral" + fragment)
        #expect(photo.authorURL == photo.url)
    }

    @Test func `texts are sanitized and truncated`() throws {
        let long = String(repeating: "ü", count: 20_000)
        let fields = """
            "description":"<b>\\u0000\\u001b[31m</b>","alt_description":"\(long)",\
            "user":{"username":"a/../b","name":"Ada\\nLovelace\\u202e"}
            """
        let photo = try #require(try Self.photo(fields)).photo
        #expect(photo.title == "<b>[31m</b>")
        #expect((photo.description?.utf8.count, photo.author) == (16384, "Ada Lovelace"))
        #expect(
            photo.authorURL
                == "https://unsplash.com/@a%2F..%2Fb?utm_source=image_feed&utm_medium=referral")
    }

    @Test(arguments: [
        ("https://api.unsplash.com/photos/a/download?ixid=M3w", true),
        ("https://api.unsplash.com.evil.com/photos/a/download", false),
        ("http://api.unsplash.com/photos/a/download", false), ("/photos/a/download", false),
    ])
    func `only download addresses of the API are stored`(text: String, isStored: Bool) throws {
        let remote = try #require(try Self.photo(#""links":{"download_location":"\#(text)"}"#))
        #expect(remote.note == (isStored ? text : ""))
    }

    @Test(arguments: ["", "a/b", "..", "a b", "ä", "a?b", String(repeating: "a", count: 65)])
    func `an invalid photo ID is rejected`(id: String) throws {
        let json = #"{"id":"\#(id)","urls":{"full":"https://images.unsplash.com/a"}}"#
        let record = try #require(JSON.decode(json.utf8) as PhotoRecord?)
        #expect(try Self.mapping().photo(record) == nil)
    }
}
