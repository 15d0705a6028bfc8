import ProviderKit
import Testing

@testable import Engine

/// What is shown of troubles, and what is not.
@Suite struct NotificationPolicyTests {
    private let ada = NoticeSubject.account(AccountID(stored: "service_ada"))
    private let bob = NoticeSubject.account(AccountID(stored: "service_bob"))

    private func like(
        _ photo: String, _ wish: FailedLike.Wish = .like, because reason: String = "No."
    ) -> Trouble {
        Trouble(
            kind: .likes, whom: "ada at Service", reason: reason,
            likes: [FailedLike(photo: PhotoID(photo), wish: wish)])
    }

    private let refusal = Trouble(
        kind: .needsLogin, name: "Service", whom: "ada at Service", reason: "Log in.", command: "c")

    @Test func `the first trouble is shown, and those that follow are folded into it`() {
        var ledger = NotificationPolicy()
        #expect(ledger.raise(like("a"), about: ada) == [.post(1), .rest(ada)])
        #expect(ledger.notice(1)?.title == "A like was not sent")
        #expect(ledger.notice(1)?.text == "1 like could not be sent for ada at Service. No.")
        #expect(ledger.notice(1)?.actions == [.retry])
        for photo in ["b", "c"] {
            #expect(ledger.raise(like(photo, because: "Last."), about: ada) == [.post(1)])
        }
        #expect(ledger.notice(1)?.title == "Likes were not sent")
        #expect(ledger.notice(1)?.text == "3 likes could not be sent for ada at Service. Last.")
        // The same once more is nothing new.
        #expect(ledger.raise(like("c", because: "Last."), about: ada) == [])
    }

    @Test(arguments: [
        ([FailedLike.Wish.unlike], "1 like could not be taken back for ada at Service. No."),
        ([.like, .unlike], "2 likes could not be sent or taken back for ada at Service. No."),
        ([.toggle, .like], "2 likes could not be sent for ada at Service. No."),
    ])
    func `likes are counted by what was wanted`(wishes: [FailedLike.Wish], text: String) {
        var ledger = NotificationPolicy()
        for (number, wish) in wishes.enumerated() {
            _ = ledger.raise(like("\(number)", wish), about: ada)
        }
        #expect(ledger.notice(1)?.text == text)
    }

    @Test func `who has asked to toggle does not blur what was wanted`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a", .unlike), about: ada)
        _ = ledger.raise(like("a", .toggle), about: ada)
        #expect(ledger.act(.retry, on: 1)?.troubles.first?.likes.map(\.wish) == [.unlike])
    }

    @Test func `another trouble soon after is folded in, and the worst has the title`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        #expect(ledger.raise(refusal, about: ada) == [.post(1)])
        let notice = ledger.notice(1)
        #expect(notice?.title == "Log in to Service again")
        #expect(
            notice?.text
                == "ada at Service: Log in.\n1 like could not be sent for ada at Service. No.")
        #expect(notice?.actions == [.login, .retry])
        #expect(notice?.category == "network.error")
        // Each heals for itself.
        #expect(ledger.heal(.needsLogin, about: ada) == [.post(1)])
        #expect(ledger.notice(1)?.title == "A like was not sent")
        #expect(ledger.settle(PhotoID("a"), about: ada) == [.post(1)])
        #expect(ledger.notice(1) == nil)
    }

    @Test func `half a minute later another kind has a notice of its own`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        #expect(ledger.restEnded(ada) == [])
        #expect(ledger.raise(refusal, about: ada) == [.post(2), .rest(ada)])
        #expect(ledger.notice(1)?.title == "A like was not sent")
        #expect(ledger.notice(2)?.title == "Log in to Service again")
        // More of the same replaces what is there.
        #expect(ledger.raise(like("b"), about: ada) == [.post(1)])
    }

    @Test func `accounts do not keep each other quiet`() {
        var ledger = NotificationPolicy()
        #expect(ledger.raise(like("a"), about: ada) == [.post(1), .rest(ada)])
        #expect(ledger.raise(like("a"), about: bob) == [.post(2), .rest(bob)])
    }

    @Test func `what comes too soon after a notice was put away waits, and comes at once`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        ledger.closed(1, .dismissed)
        #expect(ledger.raise(like("b"), about: ada) == [.post(1)])
        #expect(ledger.notice(1) == nil)
        #expect(ledger.raise(like("c"), about: ada) == [])
        #expect(ledger.raise(refusal, about: ada) == [])
        #expect(ledger.restEnded(ada) == [.post(2), .rest(ada)])
        // What was put away does not count again.
        #expect(
            ledger.notice(2)?.text
                == "ada at Service: Log in.\n2 likes could not be sent for ada at Service. No.")
        #expect(ledger.restEnded(ada) == [])
    }

    @Test func `what is healed while it waits is not shown`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        ledger.closed(1, .dismissed)
        _ = ledger.raise(refusal, about: ada)
        #expect(ledger.heal(.needsLogin, about: ada) == [])
        #expect(ledger.restEnded(ada) == [])
    }

    @Test(arguments: [NoticeClosing.expired, .dismissed])
    func `a state is told of once, until it is healed`(closing: NoticeClosing) {
        var ledger = NotificationPolicy()
        #expect(ledger.raise(refusal, about: ada) == [.post(1), .rest(ada)])
        #expect(ledger.raise(refusal, about: ada) == [])
        ledger.closed(1, closing)
        _ = ledger.restEnded(ada)
        #expect(ledger.raise(refusal, about: ada) == [])
        // In a list of past ones it may be there still.
        #expect(ledger.heal(.needsLogin, about: ada) == [.post(1)])
        #expect(ledger.notice(1) == nil)
        #expect(ledger.raise(refusal, about: ada) == [.post(2), .rest(ada)])
    }

    @Test func `likes that fail after a notice has expired take its place`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        ledger.closed(1, .expired)
        _ = ledger.restEnded(ada)
        #expect(ledger.raise(like("b"), about: ada) == [.post(1), .rest(ada)])
        #expect(ledger.notice(1)?.text.hasPrefix("2 likes") == true)
    }

    @Test func `an action takes what it is for, and puts the notice away`() throws {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        _ = ledger.raise(refusal, about: ada)
        let result = ledger.act(.retry, on: 1)
        let acted = try #require(result)
        #expect(acted.subject == ada)
        #expect(acted.troubles.map(\.kind) == [.likes])
        #expect(acted.steps.contains(.post(1)))
        #expect(ledger.notice(1) == nil)
        // Twice is once.
        #expect(ledger.act(.retry, on: 1)?.troubles == [])
        #expect(ledger.act(.login, on: 1)?.troubles.map(\.kind) == [.needsLogin])
        #expect(ledger.act(.login, on: 9) == nil)
    }

    @Test func `an action in a list of past notices counts`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        ledger.closed(1, .expired)
        #expect(ledger.act(.retry, on: 1)?.troubles.first?.likes.map(\.photo.text) == ["a"])
    }

    @Test func `what nobody could show is shown when somebody can`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        ledger.notShown(1)
        // Nobody was disturbed: it is tried again with the next.
        #expect(ledger.raise(like("b"), about: ada) == [.post(1), .rest(ada)])
        ledger.notShown(1)
        #expect(ledger.boardAppeared() == [.post(1), .rest(ada)])
        #expect(ledger.notice(1)?.text.hasPrefix("2 likes") == true)
        #expect(ledger.boardAppeared() == [])
    }

    @Test func `what went with the desktop comes back, though not too soon`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        _ = ledger.raise(like("a"), about: bob)
        ledger.closed(2, .dismissed)
        ledger.lost(1)
        ledger.lost(2)
        _ = ledger.boardAppeared()
        #expect(ledger.notice(1) == nil)
        #expect(ledger.restEnded(ada) == [.post(3), .rest(ada)])
        #expect(ledger.restEnded(bob) == [])
    }

    @Test func `an account that goes takes its notices along`() {
        var ledger = NotificationPolicy()
        _ = ledger.raise(like("a"), about: ada)
        _ = ledger.restEnded(ada)
        _ = ledger.raise(refusal, about: ada)
        #expect(Set(ledger.healAll(about: ada)) == [.post(1), .post(2)])
        #expect(ledger.numbers == [])
        #expect(ledger.healAll(about: bob) == [])
    }
}
