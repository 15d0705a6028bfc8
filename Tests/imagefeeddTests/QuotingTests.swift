import Contract
import DBus
import Glibc
import MastodonSimulator
import TestSupport
import Testing
import UnsplashSimulator

/// Tests that messages repeat at most 100 characters of a caller's text.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct QuotingTests {
    /// An argument that has no text in common with a message.
    nonisolated private static let long = String(repeating: "qz", count: 1500)

    private typealias Call = (name: String, call: () async throws -> Void)

    /// Expects that each call fails with a message that repeats little of ``long``.
    private func expectShort(
        sourceLocation: SourceLocation = #_sourceLocation, _ calls: [Call]
    ) async {
        for (name, call) in calls {
            guard let reply = await errorReply(sourceLocation: sourceLocation, call) else {
                Issue.record("\(name) does not fail", sourceLocation: sourceLocation)
                continue
            }
            let message = reply.message
            let repeated = message.split { $0 != "q" && $0 != "z" }.map(\.count).max() ?? 0
            #expect(message.count <= 300, "\(name): \(message)", sourceLocation: sourceLocation)
            #expect(repeated <= 100, "\(name): \(message)", sourceLocation: sourceLocation)
            #expect(message.hasSuffix("."), "\(name): \(message)", sourceLocation: sourceLocation)
            #expect(reply.name != .noReply && reply.name != .failed, "\(name): \(reply)")
        }
    }

    /// Returns the calls of an account that take a text.
    private func calls(_ proxy: BusProxy, _ photo: String) -> [Call] {
        let long = Self.long
        let sources = [long, "album:\(long)", "user:\(long)", "topic:\(long)", "tag:\(long)"]
        var calls = sources.flatMap { source -> [Call] in
            [
                ("GetPage", { try await proxy.perform(.feed, "GetPage", source, "", 1 as UInt32) }),
                ("Refresh", { try await proxy.perform(.feed, "Refresh", source) }),
                ("DefaultSource", { try await proxy.set(.feed, "DefaultSource", to: source) }),
            ]
        }
        for method in ["GetImage", "OpenImage"] as [MemberName] {
            for (id, size) in [(photo, long), (long, "full"), (long, long)] {
                calls.append(("\(method)", { try await proxy.perform(.feed, method, id, size) }))
            }
        }
        for method in ["Like", "Unlike", "Toggle"] as [MemberName] {
            calls.append(("\(method)", { try await proxy.perform(.like, method, long) }))
        }
        func download() async throws {
            let file = try Destination.open("/dev/null", O_WRONLY)
            try await proxy.perform(.feed, "Download", long, file)
        }
        return calls + [
            ("cursor", { try await proxy.perform(.feed, "GetPage", "", long, 1 as UInt32) }),
            ("GetPhoto", { try await proxy.perform(.feed, "GetPhoto", long) }),
            ("Download", download),
            ("SetAvatar", { try await proxy.perform(.profile, "SetAvatar", long) }),
            ("Label", { try await proxy.set(.account, "Label", to: long + long) }),
        ]
    }

    @Test func `messages of the daemon and of local accounts are short`() async throws {
        let (_, client, ada) = try await startWithUser(["a"])
        let photo = try await ada.firstID()
        let service = client.service
        let long = Self.long
        let path = ObjectPath(unchecked: "/" + long)
        let root = client.proxy(ServiceName.root)
        let login = client.service.login(
            try await service.startLogin("local", [.username: .string("ada")]))
        _ = try? await login.wait()
        let properties: InterfaceName = "org.freedesktop.DBus.Properties"
        let local = client.proxy(ServiceName.providers.appending("local"))
        let settings = [long: Variant.string(long)]
        func logIn(
            _ options: [LoginOption: Variant], to provider: String = "local"
        ) -> () async throws -> Void {
            { _ = try await service.startLogin(provider, options) }
        }
        await expectShort([
            ("Login", logIn([:], to: long)),
            ("username", logIn([.username: .string(long)])),
            ("register", logIn([.username: .string(long), .register: .bool(true)])),
            ("server", logIn([.username: .string("ada"), .server: .string(long)])),
            ("Mastodon", logIn([.server: .string(long)], to: "mastodon")),
            ("account", logIn([.account: .objectPath(path)])),
            ("type", logIn([.account: .string(long)])),
            ("DefaultAccount", { try await service.setDefaultAccount(path) }),
            ("SubmitCode", { try await login.submitCode(long) }),
            ("object", { try await client.proxy(path).perform(.feed, "GetPhoto", long) }),
            ("interface", { try await root.perform(Self.name(255), "GetPhoto") }),
            ("method", { try await root.perform(.manager, Self.member(255)) }),
            ("both", { try await root.perform(Self.name(255), Self.member(255)) }),
            ("Get", { try await root.perform(properties, "Get", long, long) }),
            ("property", { try await root.perform(properties, "Get", "", long) }),
            ("GetAll", { try await root.perform(properties, "GetAll", long) }),
            ("Configure", { try await local.perform(.provider, "Configure", settings) }),
        ])
        await expectShort(calls(client.proxy(ada.path), photo))
    }

    @Test(.privateKeyring) func `messages of remote accounts are short`() async throws {
        let (fixture, account) = try await logIn(to: UnsplashFixture())
        let photo = try #require(fixture.unsplash.feed.first).id
        await expectShort(calls(fixture.client.proxy(account.path), photo))
    }

    private static func name(_ count: Int) -> InterfaceName {
        InterfaceName(unchecked: "q." + String(repeating: "z", count: count - 2))
    }

    private static func member(_ count: Int) -> MemberName {
        MemberName(unchecked: String(repeating: "q", count: count))
    }
}
