import TestSupport
import Testing

@testable import ProviderKit

/// The optional features of sessions and providers.
struct FeaturesTests {
    @Test func `a session without features has none`() {
        let session: any Session = PlainSession()
        #expect(session.remoteFeed == nil)
        #expect(session.remoteLikes == nil)
        #expect(session.remoteImages == nil)
        #expect(session.profileSession == nil)
    }

    @Test func `a session of a web service is returned by the properties of its protocols`() {
        let remote = RemoteTestSession(offersLikes: true)
        let session: any Session = remote
        #expect(session.remoteFeed as? RemoteTestSession === remote)
        #expect(session.remoteImages as? RemoteTestSession === remote)
        #expect(session.profileSession as? RemoteTestSession === remote)
        // The properties of a refined protocol are those of the session.
        #expect(session.remoteFeed?.remoteImages as? RemoteTestSession === remote)
    }

    @Test(arguments: [true, false])
    func `a session decides about a feature itself`(offersLikes: Bool) {
        let session: any Session = RemoteTestSession(offersLikes: offersLikes)
        #expect((session.remoteLikes != nil) == offersLikes)
        #expect((session.remoteFeed?.remoteLikes != nil) == offersLikes)
    }

    @Test func `a provider has the login of its protocol`() {
        let plain: any Provider = PlainTestProvider()
        if case .none = plain.loginMethod {} else { Issue.record("The provider has a login.") }
        #expect(plain.installed == nil)
        let key: any Provider = KeyTestProvider()
        if case .key = key.loginMethod {} else { Issue.record("The login has no key.") }
        #expect(key.loginMethod.oauth == nil)
        #expect(!key.loginMethod.isFederated)
        #expect(UnusableProvider(id: "x", name: "X", reason: "").installed != nil)
    }
}

private final class PlainSession: Session {
    let events = AsyncStream<SessionEvent> { $0.finish() }
    func close() {}
}

private final class RemoteTestSession: RemoteFeed {
    let events = AsyncStream<SessionEvent> { $0.finish() }
    let offersLikes: Bool

    init(offersLikes: Bool) { self.offersLikes = offersLikes }

    func close() {}
    func accepts(_ source: SourceID) -> Bool { true }
    func sources() async throws -> [Source] { [] }
    func fetchPage(_ source: SourceID, from pageToken: String?) async throws -> RemotePage {
        RemotePage([])
    }
    func fetchPhoto(_ id: PhotoID) async throws -> RemotePhoto {
        throw ProviderError.notFound("There is no photo.")
    }
}

// Conformances in extensions count as well.
extension RemoteTestSession: RemoteImages {
    var imageClient: any HTTPClient { ScriptedHTTP() }
}

extension RemoteTestSession: ProfileSession {
    func profile() async throws -> Profile { Profile(username: "ada", name: "Ada") }
}

extension RemoteTestSession: RemoteLikes {
    var remoteLikes: (any RemoteLikes)? { offersLikes ? self : nil }
    var likesSource: SourceID { SourceID("likes") }
    func setLiked(_ photo: PhotoID, _ isLiked: Bool) async throws -> Int? { nil }
}

private struct PlainTestProvider: Provider {
    var info: ProviderInfo {
        ProviderInfo(
            id: "test", name: "Test", iconName: "", authentication: .none, capabilities: [],
            defaultSource: SourceID("feed"))
    }

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        PlainSession()
    }
}

private struct KeyTestProvider: KeyLogin {
    let info = PlainTestProvider().info

    func makeSession(_ account: AccountIdentity, _ ports: SessionPorts) -> any Session {
        PlainSession()
    }
    func access(
        _ settings: ProviderSettings, server: String
    ) throws(ProviderError) -> KeyDescription { KeyDescription(keyField: nil, keyOrigins: []) }
    func identify(
        _ account: AccountIdentity, _ ports: SessionPorts
    ) async throws -> AccountIdentity { account }
}
