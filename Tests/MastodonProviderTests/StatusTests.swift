import JSONFormat
import ProviderKit
import TestSupport
import Testing

@testable import MastodonProvider

struct StatusTests {
    private func photos(
        _ json: String, showsSensitive: Bool = false, isInLikes: Bool = false
    ) throws -> [RemotePhoto] {
        let record = try #require(JSON.decode(json.utf8) as StatusRecord?)
        return ModelMapping(allowsLoopback: false, showsSensitive: showsSensitive)
            .photos(record, isInLikes: isInLikes)
    }

    /// Maps the first photo of a status.
    private func photo(_ json: String, showsSensitive: Bool = false) throws -> Photo {
        try #require(try photos(json, showsSensitive: showsSensitive).first).photo
    }

    private func recorded(_ name: String, allowsLoopback: Bool = false) throws -> [RemotePhoto] {
        let body = try recordings.body(name)
        let record = try #require(JSON.decode(body) as StatusRecord?)
        return ModelMapping(allowsLoopback: allowsLoopback, showsSensitive: true).photos(record)
    }

    @Test func `all fields of a recorded image are mapped`() throws {
        let remote = try #require(try recorded("status_with_image_alt_focus_mastodon.social").first)
        let photo = remote.photo
        #expect(photo.id.text == "110447003454258227.110447002079181641")
        #expect(photo.created == Timestamp(rfc3339: "2023-05-28T15:25:28Z"))
        #expect((photo.updated, photo.width, photo.height) == (nil, 1280, 720))
        #expect(photo.blurHash == "UvBEOP$%r9ofroa#bef$R5Wnb^ahVua#buf5")
        #expect(photo.focus == FocalPoint(x: 0.05, y: -0.49))
        #expect([photo.title, photo.description] == ["image post", "furry cube"])
        #expect([photo.author, photo.authorUsername] == ["autumnal halcy", "halcy"])
        #expect(photo.authorURL == "https://mastodon.social/@halcy")
        #expect(photo.url == "https://mastodon.social/@halcy/110447003454258227")
        #expect((photo.likes, photo.isLiked) == (0, false))
        #expect(remote.hasLikeState)
        #expect((photo.isSensitive, photo.mediaType) == (true, "image/jpeg"))
        #expect(remote.images[.full]?.hasSuffix("/original/97232afa341c291e.jpg") == true)
        #expect(remote.images[.small]?.hasSuffix("/small/97232afa341c291e.jpg") == true)
    }

    @Test(arguments: [
        "status_with_video_mastodon.social", "status_with_gifv_customemoji_mastodon.social",
        "status_with_audio_mastodon.social", "status_favourite_200",
    ])
    func `other media than images are omitted`(name: String) throws {
        #expect(try recorded(name).isEmpty)
    }

    @Test func `loopback addresses are accepted only from loopback servers`() throws {
        #expect(try recorded("status_with_image_4.6.4").isEmpty)
        #expect(try recorded("status_with_image_4.6.4", allowsLoopback: true).count == 1)
    }

    @Test func `each valid image is a photo`() throws {
        let status = Sample.status(
            "1",
            [
                Sample.image("a"), #"{"id":"v","type":"video","url":"https://f/v.mp4"}"#,
                #"{"id":"u","type":"unknown","url":"https://f/u"}"#,
                #"{"id":"n","type":"image","url":null}"#, "null", "7", Sample.image("b"),
                #"{"id":"x","type":"image","url":"http://f.example/x.jpg"}"#,
                #"{"id":"l","type":"image","url":"http://127.0.0.1/x.jpg"}"#,
                #"{"id":"../x","type":"image","url":"https://f.example/x.jpg"}"#,
            ])
        let found = try photos(status)
        // The last one has the hash of its ID.
        #expect(found.map(\.photo.id.text) == ["1.a", "1.b", "1.7132eda6838c62fa"])
        #expect(found[0].images == [.full: "https://files.example/a.jpg"])
        #expect(!found[0].hasLikeState)
    }

    @Test func `a boost is mapped to the boosted status`() throws {
        let original = Sample.status(
            "1", [Sample.image("a")], #""created_at":"2026-01-01T00:00:00.000Z""#)
        let boost = #"{"id":"2","created_at":"2026-02-02T00:00:00.000Z","reblog":\#(original)}"#
        let photo = try photo(boost)
        #expect(photo.id.text == "1.a")
        #expect(photo.created == Timestamp(rfc3339: "2026-01-01T00:00:00Z"))
        // A chain of boosts is not followed.
        let nested =
            String(repeating: #"{"id":"3","reblog":"#, count: 50) + boost
            + String(repeating: "}", count: 50)
        #expect(try photos(nested).isEmpty)
    }

    @Test(arguments: [
        #""sensitive":true"#, #""spoiler_text":"food""#,
        #""filtered":[{"filter":{"filter_action":"warn"}}]"#, #""filtered":[{"filter":null}]"#,
    ])
    func `sensitive statuses are included only on request`(more: String) throws {
        let status = Sample.status("1", [Sample.image("a")], more)
        #expect(try photos(status).isEmpty)
        let shown = try photos(status, showsSensitive: true)
        #expect(shown.first?.photo.isSensitive == true)
        #expect(try photos(#"{"id":"2","reblog":\#(status)}"#).isEmpty)
        #expect(
            try photos(#"{"id":"2",\#(more),"reblog":\#(Sample.status("1", [Sample.image("a")]))}"#)
                .isEmpty)
    }

    @Test func `hidden statuses are never included`() throws {
        let hide =
            #""filtered":[{"filter":{"filter_action":"warn"}},{"filter":{"filter_action":"hide"}}]"#
        let status = Sample.status("1", [Sample.image("a")], hide)
        #expect(try photos(status, showsSensitive: true).isEmpty)
        #expect(try photos(#"{"id":"2","reblog":\#(status)}"#, showsSensitive: true).isEmpty)
    }

    @Test func `the title is plain text and begins with the content warning`() throws {
        let more =
            #""content":"<p>a &amp; b</p><p>c\u0007\u202e</p>","spoiler_text":"beware","account":{"acct":"ada@x.example","display_name":"Ada :cat:\n"}"#
        let photo = try photo(Sample.status("1", [Sample.image("a")], more), showsSensitive: true)
        #expect([photo.title, photo.text] == ["beware a & b c", "beware\n\na & b\n\nc"])
        #expect([photo.author, photo.authorUsername] == ["Ada :cat:", "ada@x.example"])
    }

    @Test func `missing and invalid fields are ignored`() throws {
        let image = Sample.image(
            "1",
            #""meta":{"original":{"width":"x","height":720.4}},"blurhash":"no","description":7"#)
        let photo = try photo(
            #"{"id":17,"media_attachments":[\#(image)],"account":{"acct":"","username":"ada","display_name":""},"favourites_count":-1,"favourited":null,"url":"javascript:x"}"#
        )
        #expect((photo.id.text, photo.width, photo.height) == ("17.1", nil, 720))
        #expect([photo.blurHash, photo.description, photo.url] == [nil, nil, nil])
        #expect((photo.likes, photo.title) == (nil, nil))
    }

    @Test func `numbers and flags in text form are decoded`() throws {
        let image = Sample.image(
            "1",
            #""meta":{"original":{"width":"1280","height":"853.0"},"focus":{"x":"0.5","y":"-1"}}"#)
        let more = #""sensitive":"0","favourites_count":"12","favourited":1"#
        let photo = try photo(Sample.status("1", [image], more))
        #expect((photo.width, photo.height) == (1280, 853))
        #expect((photo.focus, photo.likes, photo.isLiked) == (FocalPoint(x: 0.5, y: -1), 12, true))
        #expect(try photos(Sample.status("1", [image], #""sensitive":1"#)).isEmpty)
        #expect(try photos(Sample.status("1", [image], #""sensitive":"true""#)).isEmpty)
    }

    @Test func `the deviations of Pixelfed are handled`() throws {
        let image = Sample.image(
            "9",
            #""preview_url":"https://f.example/no-preview.png","blurhash":"U4Rfzst8?bt7ogayj[j[~pfQ9Goe%Mj[WBay","meta":{"focus":{"x":0,"y":0},"original":{"width":10,"height":20}}"#
        )
        let found = try photos(
            Sample.status(
                "1", [image],
                #""favourited":null,"created_at":"2021-05-25T11:22:33.000000Z","like_id":"5""#),
            isInLikes: true)
        let remote = try #require(found.first)
        #expect(remote.photo.blurHash == nil)
        #expect(remote.images == [.full: "https://files.example/9.jpg"])
        #expect(remote.photo.created == Timestamp(rfc3339: "2021-05-25T11:22:33Z"))
        #expect((remote.photo.isLiked, remote.hasLikeState, remote.photo.width) == (true, true, 10))
    }

    @Test func `all fields of a recorded profile are mapped`() throws {
        func profile(_ name: String) throws -> Profile? {
            let record = try #require(JSON.decode(recordings.body(name)) as ServiceRecord?)
            return ModelMapping(allowsLoopback: true, showsSensitive: false).profile(record)
        }
        let plain = try #require(try profile("accounts_verify_credentials_200"))
        #expect([plain.username, plain.name] == ["mastodonpy_test", "mastodonpy_test"])
        // The default image is not an avatar.
        #expect(plain.avatarURL == "")
        let full = try #require(try profile("account_lookup_200"))
        #expect([full.name, full.bio] == ["John Lennon", "I walk funny"])
        #expect(full.avatarURL.hasSuffix(".jpg"))
        #expect(full.url == "http://localhost:3000/@mastodonpy_test")
    }
}
