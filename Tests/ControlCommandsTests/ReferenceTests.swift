import Contract
import DBus
import Testing

@testable import ControlCommands

struct ReferenceTests {
    @Test(arguments: [
        ("local_ada/42", "local_ada", "42"), ("42", nil, "42"), ("/42", "", "42"),
        ("\0-42", nil, "-42"), ("-42", nil, "-42"), ("local_ada/a/b", "local_ada", "a/b"),
        ("a-b/c", nil, "a-b/c"),
        ("/org/imagefeed/ImageFeed1/accounts/local_ada/42", "local_ada", "42"),
        ("local_ada/", "local_ada", ""), ("", nil, ""),
    ])
    func `a photo reference has an optional account`(text: String, account: String?, id: String) {
        let reference = PhotoReference(text)
        #expect((reference.account, reference.id) == (account, id))
    }

    @Test(arguments: [
        (["photo", "-abc", "--json"], ["photo", "\0-abc", "--json"]),
        (["photo", "--Xy_1"], ["photo", "\0--Xy_1"]),
        (["photo", "-h"], ["photo", "-h"]),
        (["photo", "--help"], ["photo", "--help"]),
        (["image", "--size", "-abc", "-abc"], ["image", "--size", "-abc", "\0-abc"]),
        (["image", "--size=full", "-abc"], ["image", "--size=full", "\0-abc"]),
        (["photo", "--", "-abc"], ["photo", "--", "-abc"]),
        (["like", "-abc"], ["like", "\0-abc"]),
        (["download", "-o", "-abc", "-abc"], ["download", "-o", "-abc", "\0-abc"]),
        (["feed", "-abc"], ["feed", "-abc"]),
        (["slideshow", "show", "-abc"], ["slideshow", "show", "\0-abc"]),
        (["slideshow", "next", "-abc"], ["slideshow", "next", "-abc"]),
        ([], []),
    ])
    func `a photo ID may begin with a hyphen`(words: [String], expected: [String]) {
        #expect(ImageFeedControl.escapingPhotoIDs(words) == expected)
    }

    @Test(arguments: [
        ("local_ada", "local_ada"), ("local_ada_2", "local_ada_2"), ("uns", "unsplash_bob"),
        ("/org/imagefeed/ImageFeed1/accounts/local_ada", "local_ada"), (nil, "local_ada"),
    ])
    func `an account is found by its ID, a prefix or its path`(text: String?, id: String) throws {
        #expect(try Samples.snapshot.account(text).id == id)
    }

    @Test func `a photo reference with an empty account is a usage error`() {
        let failure = #expect(throws: CommandFailure.self) {
            try Samples.snapshot.combinedID(of: PhotoReference("/42"))
        }
        #expect(failure == CommandFailure(.usage, "The account is empty."))
    }

    @Test(arguments: [("local", ProgramStatus.usage), ("unknown", .failed)])
    func `an ambiguous or unknown account is an error`(reference: String, status: ProgramStatus) {
        let error = #expect(throws: CommandFailure.self) { try Samples.snapshot.account(reference) }
        #expect(error?.status == status)
    }

    @Test func `a prefix names the account that is logged in if there is only one`() throws {
        let account = InterfaceName.account.text
        let snapshot = DaemonMirror(
            manager: [:],
            objects: [
                ServiceName.accounts.appending("local_ada"): [
                    account: ["Id": .string("local_ada")], InterfaceName.feed.text: [:],
                ],
                ServiceName.accounts.appending("local_bob"): [
                    account: ["Id": .string("local_bob")]
                ],
            ])
        #expect(try snapshot.loggedInAccount("local").id == "local_ada")
        #expect(try snapshot.combinedID(of: PhotoReference("local/42")) == "local_ada/42")
        #expect(throws: CommandFailure.self) { try snapshot.account("local") }
    }

    @Test func `commands without an account require a login`() {
        let empty = DaemonMirror(manager: ["DefaultAccount": .objectPath("/")], objects: [:])
        let failure = #expect(throws: CommandFailure.self) { try empty.account(nil) }
        #expect(failure?.status == .needsLogin)
        let loggedOut = #expect(throws: CommandFailure.self) {
            try Samples.snapshot.loggedInAccount("unsplash_bob")
        }
        #expect(loggedOut?.status == .needsLogin)
        #expect(loggedOut?.message.contains("login unsplash --account unsplash_bob") == true)
    }

    @Test func `the short reference of an account is not that of another one`() throws {
        let ids = ["p_a", "shelfy_mia_40http", "q_a", "q_ab", "q_b", "my_2dp_x"]
        let providers = ["p", "shelfy", "q", "q", "q", "my_2dp"]
        let accounts = zip(ids, providers).map { ($0, Samples.account($0, $1, label: "x")) }
        let snapshot = Samples.snapshot(accounts: Dictionary(uniqueKeysWithValues: accounts))
        let short = snapshot.shortIDs
        #expect(ids.map { short[$0] } == ["p", "shelfy", "q_a", "q_ab", "q_b", "my_2dp"])
        for id in ids { #expect(try snapshot.account(short[id]).id == id) }
    }
}
