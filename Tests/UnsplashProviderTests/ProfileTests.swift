import ProviderKit
import TestSupport
import Testing
import WebService

@testable import UnsplashProvider

struct ProfileTests {
    @Test func `a recorded profile is mapped`() async throws {
        let fixture = Fixture(responding: try recordings.response("me_200"))
        let profile = try await fixture.session.profile()
        #expect([profile.username, profile.name] == ["aaron_is_just_so_handsome", "Aaron Jangly"])
        #expect((profile.bio, profile.likes) == ("", 0))
        #expect(
            profile.url
                == "https://unsplash.com/@aaron_is_just_so_handsome?utm_source=image_feed&utm_medium=referral"
        )
        #expect(profile.avatarURL.hasSuffix("&h=128&w=128"))
        #expect(!profile.isEditable)
    }

    @Test func `a profile requires a user name`() async throws {
        let profile = try await Fixture(responding: .json(#"{"username":"ada","bio":7}"#))
            .session.profile()
        #expect((profile.name, profile.likes, profile.avatarURL) == ("ada", nil, ""))
        for body in [#"{"username":""}"#, "{}", #"{"username":null}"#, "[]"] {
            let fixture = Fixture(responding: .json(body))
            await #expect(throws: ProviderError.self) { try await fixture.session.profile() }
        }
    }
}
