import BusAPI
import DBus
import TestSupport
import Testing

@testable import ControlCommands

@MainActor
@Suite(.privateBus, .timeLimit(.minutes(1)))
struct LikeTests {
    @Test(arguments: [
        (["like", "7"], "local_ada/7\tliked\tdone\n", ""),
        (["unlike", "local_ada/7"], "local_ada/7\tnot liked\tdone\n", ""),
        (["toggle", "7"], "local_ada/7\tliked\tdone\n", ""),
        (["toggle", "liked"], "local_ada/liked\tnot liked\tdone\n", ""),
        (["like", "-Xy7"], "local_ada/-Xy7\tliked\tdone\n", ""),
        (["like", "queued"], "local_ada/queued\tliked\tqueued\n", "sent later"),
        (["unlike", "local"], "local_ada/local\tnot liked\tlocal\n", "offers no likes"),
    ])
    func `a like tells what has become of it`(
        arguments: [String], output: String, remark: String
    ) async throws {
        try await FakeService.run { service in
            let result = try await Control.run(arguments)
            #expect(result.exit == .code(0))
            #expect(result.output == output)
            #expect(remark.isEmpty ? result.error == "" : result.error.contains(remark))
            #expect(service.account.calls.value.count == 1)
        }
    }

    @Test func `the answer in JSON has the names of the bus`() async throws {
        try await FakeService.run { _ in
            let result = try await Control.run(["toggle", "queued", "--json"])
            let account = ServiceName.accounts.appending("local_ada")
            #expect(
                result.output == """
                    {"photo":"queued","account":"\(account)","liked":true,"outcome":"queued"}

                    """)
        }
    }

    @Test(arguments: [
        ("NotFound", Int32(1)), ("NeedsLogin", 77), ("SecretStoreLocked", 75),
    ])
    func `a like that is refused fails`(photo: String, status: Int32) async throws {
        try await FakeService.run { _ in
            let result = try await Control.run(["like", photo])
            #expect(result.exit == .code(status))
            #expect(result.output == "")
        }
    }

    @Test func `where there are no likes it says so`() async throws {
        try await FakeService.run { service in
            service.accountObject.remove([.like])
            let result = try await Control.run(["like", "7"])
            #expect(result.exit == .code(1))
            #expect(result.error == "imagefeedctl: There are no likes in “Pictures”.\n")
        }
    }

    @Test func `the liked photos are a feed`() async throws {
        try await FakeService.run { _ in
            let result = try await Control.run(["likes"])
            #expect(result.output.hasPrefix("local_ada/42\t"))
            #expect(result.output.split(separator: "\n").count == 1)
            #expect(try await Control.run(["likes", "--account", "unsplash"]).exit == .code(77))
        }
    }

    @Test func `a later daemon's outcome is told as it is`() {
        let answer = LikeAnswer(
            account: ServiceName.accounts.appending("a_b"), photo: "1", liked: true,
            outcome: "dreamt")
        #expect(
            answer.text(for: .terminal(columns: 80, isColoured: false)) == "Liked a_b/1, dreamt\n")
        #expect(answer.remark(provider: "P") == nil)
    }
}
