import EngineModel
import ProviderKit
import Testing

@testable import EngineCore

/// The rules for notifications: their contents, replacements, pauses and withdrawals.
@Suite struct NotificationPolicyTests {
    private let ada = IssueSubject.account(AccountID(stored: "service_ada"))
    private let bob = IssueSubject.account(AccountID(stored: "service_bob"))

    private func like(
        _ photo: String, _ isWanted: Bool? = true, because reason: String = "No."
    ) -> ReportedIssue {
        ReportedIssue(
            kind: .likes, accountName: "ada at Service", reason: reason,
            likes: [FailedLike(photo: PhotoID(photo), isWanted: isWanted)])
    }

    private let refusal = ReportedIssue(
        kind: .needsLogin, name: "Service", accountName: "ada at Service", reason: "Log in.",
        remedy: IssueRemedy(.login, .provider("service", server: "")))

    /// The policy after a failed like of ada.
    private var raised: NotificationPolicy {
        var policy = NotificationPolicy()
        _ = policy.raise(like("a"), about: ada)
        return policy
    }

    @Test func `a first issue is shown, and later ones are added to its notification`() {
        var policy = NotificationPolicy()
        #expect(policy.raise(like("a"), about: ada) == [.post(1), .startPause(ada)])
        #expect(policy.content(1)?.title == "A like was not sent")
        #expect(policy.content(1)?.text == "1 like could not be sent for ada at Service. No.")
        #expect(policy.content(1)?.actions == [.retry])
        for photo in ["b", "c"] {
            #expect(policy.raise(like(photo, because: "Last."), about: ada) == [.post(1)])
        }
        #expect(policy.content(1)?.title == "Likes were not sent")
        #expect(policy.content(1)?.text == "3 likes could not be sent for ada at Service. Last.")
        // An identical issue changes nothing.
        #expect(policy.raise(like("c", because: "Last."), about: ada) == [])
    }

    @Test(arguments: [
        ([false] as [Bool?], "1 unlike could not be sent for ada at Service. No."),
        ([true, false], "1 like and 1 unlike could not be sent for ada at Service. No."),
        ([nil, true], "2 likes could not be sent for ada at Service. No."),
    ])
    func `failed likes and unlikes are counted separately`(wanted: [Bool?], text: String) {
        var policy = NotificationPolicy()
        for (number, isWanted) in wanted.enumerated() {
            _ = policy.raise(like("\(number)", isWanted), about: ada)
        }
        #expect(policy.content(1)?.text == text)
    }

    @Test func `a failed toggle keeps the known action of the photo`() {
        var policy = NotificationPolicy()
        _ = policy.raise(like("a", false), about: ada)
        _ = policy.raise(like("a", nil), about: ada)
        #expect(policy.act(.retry, on: 1)?.issues.first?.likes.map(\.isWanted) == [false])
    }

    @Test func `an issue during the pause is added, and the most important one has the title`() {
        var policy = raised
        #expect(policy.raise(refusal, about: ada) == [.post(1)])
        let content = policy.content(1)
        #expect(content?.title == "Log in to Service again")
        #expect(
            content?.text
                == "ada at Service: Log in.\n1 like could not be sent for ada at Service. No.")
        #expect(content?.actions == [.login, .retry])
        #expect(content?.category == "network.error")
        // Each issue is resolved separately.
        #expect(policy.resolve(.needsLogin, about: ada) == [.post(1)])
        #expect(policy.content(1)?.title == "A like was not sent")
        #expect(policy.removeFailedLike(PhotoID("a"), about: ada) == [.post(1)])
        #expect(policy.content(1) == nil)
    }

    @Test func `after the pause, another kind has a separate notification`() {
        var policy = raised
        #expect(policy.pauseEnded(ada) == [])
        #expect(policy.raise(refusal, about: ada) == [.post(2), .startPause(ada)])
        #expect(policy.content(1)?.title == "A like was not sent")
        #expect(policy.content(2)?.title == "Log in to Service again")
        // A further issue of a kind replaces its notification.
        #expect(policy.raise(like("b"), about: ada) == [.post(1)])
    }

    @Test func `the pause of one account does not delay another account`() {
        var policy = NotificationPolicy()
        #expect(policy.raise(like("a"), about: ada) == [.post(1), .startPause(ada)])
        #expect(policy.raise(like("a"), about: bob) == [.post(2), .startPause(bob)])
    }

    @Test func `issues during the pause after a dismissal wait and are shown together`() {
        var policy = raised
        policy.closed(1, isExpired: false)
        #expect(policy.raise(like("b"), about: ada) == [.post(1)])
        #expect(policy.content(1) == nil)
        #expect(policy.raise(like("c"), about: ada) == [])
        #expect(policy.raise(refusal, about: ada) == [])
        #expect(policy.pauseEnded(ada) == [.post(2), .startPause(ada)])
        // The dismissed like is not counted.
        #expect(
            policy.content(2)?.text
                == "ada at Service: Log in.\n2 likes could not be sent for ada at Service. No.")
        #expect(policy.pauseEnded(ada) == [])
    }

    @Test func `an issue that is resolved while it waits is not shown`() {
        var policy = raised
        policy.closed(1, isExpired: false)
        _ = policy.raise(refusal, about: ada)
        #expect(policy.resolve(.needsLogin, about: ada) == [])
        #expect(policy.pauseEnded(ada) == [])
    }

    @Test(arguments: [false, true])
    func `a state is reported once until it is resolved`(isExpired: Bool) {
        var policy = NotificationPolicy()
        #expect(policy.raise(refusal, about: ada) == [.post(1), .startPause(ada)])
        #expect(policy.raise(refusal, about: ada) == [])
        policy.closed(1, isExpired: isExpired)
        _ = policy.pauseEnded(ada)
        #expect(policy.raise(refusal, about: ada) == [])
        // The notification may still be in the list of past ones, where it is withdrawn.
        #expect(policy.resolve(.needsLogin, about: ada) == [.post(1)])
        #expect(policy.content(1) == nil)
        #expect(policy.raise(refusal, about: ada) == [.post(2), .startPause(ada)])
    }

    @Test func `a like that fails after expiry replaces the expired notification`() {
        var policy = raised
        policy.closed(1, isExpired: true)
        _ = policy.pauseEnded(ada)
        #expect(policy.raise(like("b"), about: ada) == [.post(1), .startPause(ada)])
        #expect(policy.content(1)?.text.hasPrefix("2 likes") == true)
    }

    @Test func `an action returns its issues and dismisses the notification`() throws {
        var policy = raised
        _ = policy.raise(refusal, about: ada)
        let result = policy.act(.retry, on: 1)
        let acted = try #require(result)
        #expect(acted.subject == ada)
        #expect(acted.issues.map(\.kind) == [.likes])
        #expect(acted.steps.contains(.post(1)))
        #expect(policy.content(1) == nil)
        // A repeated action has no effect.
        #expect(policy.act(.retry, on: 1)?.issues == [])
        #expect(policy.act(.login, on: 1)?.issues.map(\.kind) == [.needsLogin])
        #expect(policy.act(.login, on: 9) == nil)
    }

    @Test func `an action of an expired notification works`() {
        var policy = raised
        policy.closed(1, isExpired: true)
        #expect(policy.act(.retry, on: 1)?.issues.first?.likes.map(\.photo.text) == ["a"])
    }

    @Test func `a notification that could not be shown is shown by a new service`() {
        var policy = raised
        policy.notShown(1)
        // A failed attempt starts no pause: the next issue tries again.
        #expect(policy.raise(like("b"), about: ada) == [.post(1), .startPause(ada)])
        policy.notShown(1)
        #expect(policy.presenterAppeared() == [.post(1), .startPause(ada)])
        #expect(policy.content(1)?.text.hasPrefix("2 likes") == true)
        #expect(policy.presenterAppeared() == [])
    }

    @Test func `a lost notification is shown again after the pause`() {
        var policy = raised
        _ = policy.raise(like("a"), about: bob)
        policy.closed(2, isExpired: false)
        policy.lost(1)
        policy.lost(2)
        _ = policy.presenterAppeared()
        #expect(policy.content(1) == nil)
        #expect(policy.pauseEnded(ada) == [.post(3), .startPause(ada)])
        #expect(policy.pauseEnded(bob) == [])
    }

    @Test func `resolving all issues of an account withdraws its notifications`() {
        var policy = raised
        _ = policy.pauseEnded(ada)
        _ = policy.raise(refusal, about: ada)
        #expect(Set(policy.resolveAll(about: ada)) == [.post(1), .post(2)])
        #expect(policy.numbers == [])
        #expect(policy.resolveAll(about: bob) == [])
    }
}
