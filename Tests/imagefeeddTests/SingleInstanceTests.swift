import Contract
import DBus
import Glibc
import ProviderKit
import System
import TestSupport
import Testing

/// Tests with daemons of one user on two session buses.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct SingleInstanceTests {
    private let other: PrivateBus

    init() async throws { other = try await PrivateBus() }

    /// Returns the environment of a daemon on the other bus, with the folders of the running test.
    private func environment(_ changes: [String: String] = [:]) throws -> [String: String] {
        var environment = try RunningDaemon.environment()
        environment["DBUS_SESSION_BUS_ADDRESS"] = other.address
        return environment.merging(changes) { $1 }
    }

    private func start(
        _ arguments: [String] = [], _ changes: [String: String] = [:]
    ) throws -> ChildProcess {
        try ChildProcess(RunningDaemon.path, arguments, environment: environment(changes))
    }

    /// Waits until a daemon owns the name on the other bus and replies.
    private func waitForService() async throws -> (BusConnection, ServiceClient) {
        let connection = try other.connect()
        let owner = Observed<BusName?>(nil)
        let watch = try await connection.watchOwner(of: ServiceName.bus) { name in
            owner.update { $0 = name }
        }
        if try await connection.owner(of: ServiceName.bus) == nil {
            try await owner.wait { $0 }
        }
        withExtendedLifetime(watch) {}
        let service = ServiceClient(connection)
        _ = try await service.objects()
        return (connection, service)
    }

    /// Returns a connection to the other bus, on which a call starts the daemon.
    private func connectWithActivation() async throws -> BusConnection {
        let variables = try environment().map { "\($0.key)=\($0.value)" }
        try other.addService(
            ServiceName.bus,
            command: "/usr/bin/env \(variables.joined(separator: " ")) \(RunningDaemon.path)")
        let client = try other.connect()
        try await BusProxy(client, .bus, "/org/freedesktop/DBus")
            .perform("org.freedesktop.DBus", "ReloadConfig")
        return client
    }

    @Test func `a call that starts the daemon finds the sessions of accounts`() async throws {
        let (daemon, first, ada) = try await startWithUser(["a", "b"])
        let accounts = [ada.path, try await first.logIn("bob").path]
        let ids = try await ada.ids()
        try await daemon.stop()
        let client = TestClient(try await connectWithActivation())
        let account = client.service.account(ada.path)
        let calls: [() async throws -> Bool] = [
            { try await account.ids() == ids },
            { try await account.like(ids[0]) == .done },
            { try await account.photo(ids[0])["liked"] == .bool(true) },
            {
                let objects = try await client.service.objects()
                return accounts.compactMap { objects[$0] }.count {
                    let state = $0[InterfaceName.account.text]?["State"]?.string
                    return $0[InterfaceName.feed.text] != nil
                        && ["loading", "ready"].contains(state)
                } == 2
            },
        ]
        for call in calls {
            let isRight = try await client.connection.waitForOwner(
                of: ServiceName.bus, after: call)
            #expect(isRight)
            let process = try await client.process()
            try await client.connection.waitForOwner(of: ServiceName.bus, isGone: true) {
                Glibc.kill(process, SIGTERM)
            }
        }
    }

    @Test func `a second daemon reports that the data folder is in use`() async throws {
        let daemon = try await RunningDaemon()
        let result = try await start().result()
        #expect(result.exit == .code(1))
        let folder = try PrivateBus.current.directory.appending("home/.local/share/imagefeed")
        #expect(
            result.error
                == "imagefeedd: the data folder \(folder) is in use by another imagefeedd "
                + "(process \(daemon.process.id))\n")
        #expect(try await TestClient().service.objects().isEmpty == false)
    }

    @Test func `the activation of a second daemon fails immediately`() async throws {
        let daemon = try await RunningDaemon()
        let client = try await connectWithActivation()
        let reply = await errorReply { _ = try await ServiceClient(client).objects() }
        // If the daemon did not exit, the error after 25 s would be `TimedOut` or `NoReply`.
        #expect(reply?.name == "org.freedesktop.DBus.Error.Spawn.ChildExited")
        try await daemon.stop()
        // The data folder is free now.
        _ = try await ServiceClient(client).objects()
        Glibc.kill(try await TestClient(client).process(), SIGTERM)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `with --replace a daemon waits for the data folder`(signal: Int32) async throws {
        let daemon = try await RunningDaemon()
        let account = try await TestClient().logIn("ada").path
        let second = try start(["--replace", "--log-level", "info"])
        try await second.standardError.wait { output in
            output.text.contains("Waiting for the data folder") ? true : nil
        }
        daemon.process.kill(signal)
        _ = try await daemon.process.exitStatus()
        let (_, service) = try await waitForService()
        #expect(try await service.objects()[account] != nil)
        second.terminate()
        #expect(try await second.exitStatus() == .code(0))
    }

    @Test func `--replace does not end a daemon with another data folder`() async throws {
        let daemon = try await RunningDaemon()
        let folder = try PrivateBus.current.directory.appending("elsewhere")
        let second = try start([], ["XDG_DATA_HOME": folder])
        let (connection, _) = try await waitForService()
        let owner = try await connection.owner(of: ServiceName.bus)
        let third = try await start(["--replace"]).result()
        #expect(third.exit == .code(1))
        #expect(
            third.error.contains("is in use by another imagefeedd (process \(daemon.process.id))"))
        #expect(try await connection.owner(of: ServiceName.bus) == owner)
        second.terminate()
        #expect(try await second.exitStatus() == .code(0))
    }

    @Test func `daemons with one cache folder and two data folders share no files`() async throws {
        let (daemon, client, ada) = try await startWithUser(["a", "b"])
        #expect(try await client.titles(ada) == ["a", "b"])
        let folder = try PrivateBus.current.directory.appending("elsewhere")
        let second = try start([], ["XDG_DATA_HOME": folder])
        let (connection, _) = try await waitForService()
        let bob = try await TestClient(connection).logIn("bob")
        #expect(try await bob.ids().count == 2)
        #expect(try await client.service.objects()[bob.path] == nil)
        try await second.standardError.wait { output in
            output.text.contains("Another daemon uses the cache folder") ? true : nil
        }
        try Pictures.remove("a.png")
        second.terminate()
        #expect(try await second.exitStatus() == .code(0))
        let caches = try PrivateBus.current.directory.appending("home/.cache")
        let names = { (try? DirectoryListing(caches))?.names.filter { $0.hasPrefix("imagefeed") } }
        #expect(names()?.count == 2)
        // Alone, the daemon uses the common folder, and deletes its other one.
        try await daemon.stop()
        let third = try start([], ["XDG_DATA_HOME": folder])
        _ = try await waitForService()
        #expect(names() == ["imagefeed"])
        third.terminate()
        #expect(try await third.exitStatus() == .code(0))
    }
}
