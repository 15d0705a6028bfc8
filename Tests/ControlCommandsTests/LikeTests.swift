import Contract
import DBus
import ProviderKit
import TestSupport
import Testing

@testable import ControlCommands

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct LikeTests {
    @Test(arguments: [
        ("like 7", "local_ada/7\tliked\tdone\n", ""),
        ("unlike local_ada/7", "local_ada/7\tnot liked\tdone\n", ""),
        ("toggle 7", "local_ada/7\tliked\tdone\n", ""),
        ("toggle liked", "local_ada/liked\tnot liked\tdone\n", ""),
        ("like -Xy7", "local_ada/-Xy7\tliked\tdone\n", ""),
        ("like queued", "local_ada/queued\tliked\tqueued\n", "sent later"),
        ("unlike local", "local_ada/local\tnot liked\tlocal\n", "does not support likes"),
    ])
    func `like, unlike and toggle print the outcome`(
        line: String, output: String, message: String
    ) async throws {
        let result = try await Control.expectSuccess(line.words)
        #expect(result.output == output)
        #expect(message.isEmpty ? result.error == "" : result.error.contains(message))
        #expect(service.account.calls.value.count == 1)
    }

    @Test func `a local like has a message with the reason, or that there are no likes`() throws {
        let result = LikeResult(
            account: ServiceName.accounts.appending("a"), photo: "7", liked: true, outcome: .local)
        let reason = "The API key lacks the permission asset.update; edit the key."
        #expect(result.message(provider: "Immich", problem: reason)?.hasPrefix(reason) == true)
        let daily = result.message(provider: "Picture of the day", isWithoutUsers: true)
        #expect(daily == "Picture of the day has no likes. The like is stored on this computer.")
    }

    @Test(arguments: [("none", "", true), ("none", "landlock", false), ("key", "", false)])
    func `only a built-in provider without a login has no users`(
        _ authentication: String, _ sandbox: String, _ isWithoutUsers: Bool
    ) {
        let provider = ProviderProperties(
            path: ServiceName.accounts,
            properties: ["Authentication": .string(authentication), "Sandbox": .string(sandbox)])
        #expect(provider.isWithoutUsers == isWithoutUsers)
    }

    @Test func `the message about a queued like names the server`() async throws {
        service.account.server = "photos.example"
        let result = try await Control.run(["like", "queued"])
        #expect(result.error.hasPrefix("photos.example has not confirmed the like."))
    }

    @Test(arguments: [
        ("help nope", 64 as Int32), ("help slideshow nope", 64 as Int32), ("help like", 0 as Int32),
        ("help slideshow next", 0 as Int32), ("help", 0 as Int32),
    ])
    func `help for an unknown command is refused`(line: String, status: Int32) async throws {
        let result = try await Control.run(line.words, status: status)
        #expect(result.error.contains("There is no command") == (status != 0))
    }

    @Test func `the JSON result has the names of the D-Bus API`() async throws {
        let result = try await Control.run(["toggle", "queued", "--json"])
        let account = ServiceName.accounts.appending("local_ada")
        let json = #"{"photo":"queued","account":"\#(account)","liked":true,"outcome":"queued"}"#
        #expect(result.output == json + "\n")
    }

    @Test func `liking fails if the provider has no likes`() async throws {
        service.accountObject.remove([.like])
        try await Control.expectFailure(
            ["like", "7"], status: 1, "“Pictures” does not support likes.\n")
    }

    @Test func `likes lists the liked photos`() async throws {
        let result = try await Control.run(["likes"])
        #expect(result.output.hasPrefix("local_ada/42\t"))
        #expect(result.output.split(separator: "\n").count == 1)
        #expect(try await Control.run(["likes", "--account", "unsplash"]).exit == .code(77))
    }
}
