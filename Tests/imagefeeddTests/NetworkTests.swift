import Contract
import DBus
import Foundation
import ProviderKit
import TestSupport
import Testing
import UnsplashSimulator

/// Tests of the reactions to NetworkManager and logind, which are on the session bus here.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct NetworkTests {
    init() throws {
        let directory = try PrivateBus.current.directory
        try FileManager.default.createSymbolicLink(
            atPath: directory.appending("system-bus"),
            withDestinationPath: directory.appending("bus"))
    }

    /// Returns an account whose service is unavailable and that has a pending like.
    private func goOffline(_ fixture: UnsplashFixture) async throws -> AccountClient {
        let ada = try await fixture.logIn("ada")
        let ids = try await ada.ids()
        fixture.unsplash.stop()
        await expectError(.offline) { _ = try await ada.refresh("") }
        #expect(try await ada.like(ids[0]) == .queued)
        try await fixture.wait(ada, "offline")
        return ada
    }

    @Test func `status names the proxy of the desktop while an account is offline`() async throws {
        let fixture = try await UnsplashFixture()
        let portal = try await FakePortal()
        _ = try await goOffline(fixture)
        let status = try await Terminal.run("status")
        #expect(status.output.contains("the proxy proxy.test:3128"), "\(status)")
        #expect(!status.output.contains("secret"))
        withExtendedLifetime(portal) {}
    }

    /// Waits until there is plenty of time before the next automatic retry. The delays between retries double.
    ///
    /// - Returns: The time of that retry, in seconds since 1970.
    private func nextRetry(
        of account: AccountClient, _ fixture: UnsplashFixture
    ) async throws -> Int64 {
        while true {
            let retry = try await fixture.property(account, "RetryAt")?.int64 ?? 0
            if retry >= now + 8 { return retry }
            // No event is due before the next retry.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// True if an interface of this machine other than loopback has an address that is not link-local.
    private nonisolated static var hasAddress: Bool {
        let names = ["/proc/net/route", "/proc/net/ipv6_route"].compactMap {
            try? String(contentsOfFile: $0, encoding: .utf8)
        }
        return names.joined(separator: "").split(separator: "\n").contains { line in
            let words = line.split(whereSeparator: \.isWhitespace)
            // The header of the first file, and routes of link-local addresses and loopback, are left out.
            return words.count > 9 && words[0] != "Iface" && words.last != "lo"
                && !["fe80", "ff00"].contains(words[0].prefix(4))
        }
    }

    /// The current time in seconds since 1970.
    private var now: Int64 { Int64(Date.now.timeIntervalSince1970) }

    @Test(
        .enabled("the machine has no network, so the daemon uses the kernel's information") {
            hasAddress
        })
    func `all accounts continue immediately when NetworkManager reports the network`() async throws
    {
        let manager = try await FakeNetworkManager(state: 20)
        let fixture = try await UnsplashFixture()
        let ada = try await goOffline(fixture)
        try await fixture.client.wait(ServiceName.root, .manager, "Online", .bool(false))
        let retry = try await nextRetry(of: ada, fixture)
        try fixture.unsplash.resume()
        manager.state = 70
        try await fixture.client.wait(ServiceName.root, .manager, "Online", .bool(true))
        try await fixture.wait(ada, "ready")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like")
        #expect(now < retry)
        // The service leaves the bus, and the daemon uses the kernel's information again.
        manager.state = 20
        try await fixture.client.wait(ServiceName.root, .manager, "Online", .bool(false))
        try await manager.stop()
        try await fixture.client.wait(ServiceName.root, .manager, "Online", .bool(true))
    }

    @Test func `all accounts continue immediately after resume`() async throws {
        let logind = try await FakeLogind()
        let fixture = try await UnsplashFixture()
        let ada = try await goOffline(fixture)
        let retry = try await nextRetry(of: ada, fixture)
        try fixture.unsplash.resume()
        try await logind.announceSleep(false)
        try await fixture.wait(ada, "ready")
        try await fixture.unsplash.waitForRequests("POST /photos/*/like")
        #expect(now < retry)
    }

    enum Event: CaseIterable {
        case resume
        case otherConnection
    }

    @Test(arguments: Event.allCases)
    func `connections of the previous network are not reused`(event: Event) async throws {
        let logind = try await FakeLogind()
        let manager = try await FakeNetworkManager()
        manager.primaryConnection = "/org/freedesktop/NetworkManager/ActiveConnection/1"
        let (fixture, ada) = try await logIn(to: UnsplashFixture())
        // From now on, the API is reached through a relay.
        let api = try #require(
            UInt16(fixture.unsplash.apiURL.split(separator: ":")[2].prefix { $0 != "/" }))
        let relay = try LoopbackRelay(to: api)
        try await fixture.daemon.configure(
            RunningDaemon.configuration.replacing(":\(api)", with: ":\(relay.port)"))
        try await relay.accepted.wait { $0 > 0 ? true : nil }
        try await fixture.wait(ada, "ready")
        _ = try await ada.refresh("")
        let before = relay.accepted.value
        relay.freeze()
        let start = ContinuousClock.now
        switch event {
        case .resume: try await logind.announceSleep(false)
        case .otherConnection:
            manager.primaryConnection = "/org/freedesktop/NetworkManager/ActiveConnection/2"
        }
        // A request that is faster than the signal is repeated when the signal arrives.
        _ = try await ada.refresh("")
        // Without the event, a connection is given up after 15 s without data.
        #expect(ContinuousClock.now - start < .seconds(15))
        #expect(relay.accepted.value > before)
    }

    /// True if this process can create network namespaces.
    nonisolated private static let canCreateNetworks =
        geteuid() == 0 && access("/usr/sbin/ip", X_OK) == 0

    @Test(.enabled(if: canCreateNetworks, "needs root and ip(8)"))
    func `the kernel reports another network, also one with the same address`() async throws {
        let daemon = try await RunningDaemon(
            ["--log-level", "debug"], launcher: ["/usr/bin/unshare", "--net"])
        let output = daemon.process.standardError
        @Sendable func changes(_ text: String) -> Int {
            text.components(separatedBy: "The network has changed").count - 1
        }
        func configure(_ commands: String) async throws {
            let shell = try ChildProcess(
                "/usr/bin/nsenter",
                ["--target", "\(daemon.process.id)", "--net", "/bin/sh", "-ec", commands],
                environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
            let result = try await shell.result()
            #expect(result.exit == .code(0), "\(result.error)")
        }
        try await configure(
            """
            ip link add veth0 type veth peer name veth1
            ip link set veth1 up
            ip link set veth0 up
            ip address add 10.9.8.7/24 dev veth0
            """)
        try await output.wait { changes($0.text) > 0 ? true : nil }
        let before = changes(output.value.text)
        try await configure(
            "ip address del 10.9.8.7/24 dev veth0; ip address add 10.9.8.7/24 dev veth0")
        try await output.wait { changes($0.text) > before ? true : nil }
    }

    @Test(arguments: ["https_proxy", "ALL_PROXY"])
    func `the password in an invalid proxy address is kept secret`(variable: String) async throws {
        let recording = try await BusRecording()
        let daemon = try await RunningDaemon(
            [], launcher: ["/usr/bin/env", "\(variable)=http://bob:pa#ss@proxy:8080"])
        let login = try await Terminal.run(
            "login", "mastodon", "--server", "photos.example", "--no-browser")
        #expect(login.exit == .code(75), "\(login.error)")
        #expect(login.error.contains("the proxy address in \(variable) is malformed"))
        try await daemon.stop()
        let texts = [
            login.output, login.error, daemon.process.standardError.value.text,
            daemon.process.standardOutput.value.text, try await recording.text(),
        ]
        for text in texts { #expect(!text.contains("pa#ss") && !text.contains("ss@proxy")) }
        #expect(try await files(holding: ["pa#ss"]).isEmpty)
    }

    @Test func `local accounts do not connect to the system bus`() async throws {
        _ = try await FakeNetworkManager(state: 20)
        let (daemon, client) = try await startDaemon()
        try await client.logIn("ada")
        let names: [String] = try await client.connection.call(
            .methodCall(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", "ListNames"))
        var connections = 0
        for name in names where name.hasPrefix(":") {
            let process = try await client.process(of: BusName(name))
            if process == daemon.process.id { connections += 1 }
        }
        #expect(connections == 1)
    }
}
