import TestSupport
import Testing

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct ProfileTests {
    @Test func `a profile is printed with one property per line`() async throws {
        let result = try await Control.expectSuccess(["profile"])
        #expect(result.error == "")
        #expect(
            result.output == """
                State\tready
                Username\tada
                Name\tAda Lovelace
                Bio\tFirst[1m programmer, and poet of science.
                Url\thttps://photos.example/@ada
                Editable\tyes

                """)
    }

    @Test(arguments: [
        "profile --set-avatar 7", "profile local --set-avatar 7",
        "profile --set-avatar local_ada/7", "profile local --set-avatar local/7",
        "profile --set-avatar current",
    ])
    func `a photo becomes the avatar`(line: String) async throws {
        service.slideshow.show(7)
        let result = try await Control.expectSuccess(line.words)
        #expect(result.output.contains("Avatar\t/avatars/7\n"))
        #expect(service.account.calls.value == ["SetAvatar 7"])
    }

    @Test(
        arguments: [
            ("profile unsplash", Int32(77)), ("profile unsplash --set-avatar local_ada/7", 77),
            ("profile local --set-avatar unknown/7", 1), ("profile --set-avatar NotSupported", 1),
            ("profile --set-avatar ", 64),
        ] as [(String, Int32)])
    func `an impossible avatar is an error`(line: String, status: Int32) async throws {
        try await Control.expectFailure(line.words, status: status)
        #expect(service.account.calls.value == [])
    }

    @Test(arguments: [["profile"], ["profile", "local"]])
    func `a photo of another account becomes the avatar`(arguments: [String]) async throws {
        try await Control.expectSuccess(arguments + ["--set-avatar", "unsplash/-7"])
        #expect(service.account.calls.value == ["SetAvatar unsplash_bob/-7"])
    }

    @Test func `a profile that could not be loaded is reported`() async throws {
        service.account.profileState = "failed"
        let result = try await Control.expectSuccess(["profile"])
        #expect(result.error.contains("could not be loaded"))
    }
}
