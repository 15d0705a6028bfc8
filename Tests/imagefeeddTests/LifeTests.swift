import Contract
import DBus
import Foundation
import Glibc
import ProviderKit
import Storage
import TestSupport
import Testing

/// Tests of the start and the exit of the daemon.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct LifeTests {
    @Test func `the loss of the bus ends the daemon with status 0`() async throws {
        let daemon = try await RunningDaemon()
        try await PrivateBus.current.stop()
        #expect(try await daemon.process.exitStatus() == .code(0))
    }

    @Test func `a second daemon takes over only with the option --replace`() async throws {
        let (daemon, client, account) = try await startWithUser(["a"])
        let second = try await RunningDaemon.start().result()
        #expect(second.exit == .code(1))
        #expect(second.error.contains("another imagefeedd is running"))
        #expect(second.error.contains("--replace"))
        _ = try await RunningDaemon(["--replace"])
        #expect(try await daemon.process.exitStatus() == .code(0))
        #expect(try await client.titles(account) == ["a"])
    }

    @Test func `the daemon reports a missing bus`() async throws {
        try await PrivateBus.current.stop()
        let result = try await RunningDaemon.start().result()
        #expect(result.exit == .code(69))
        #expect(result.error.hasPrefix("imagefeedd: there is no session bus: "))
        #expect(result.error.split(separator: "\n").count == 1)
    }

    @Test func `SIGHUP with the same pictures folder changes nothing`() async throws {
        let (daemon, client, account) = try await startWithUser(
            ["a"], arguments: ["--log-level", "info"])
        let changes = try await Signals(propertiesOf: account.path, client.connection)
        try await daemon.configure("[Provider local]\nDirectory=Pictures\n")
        // Signals before the reply have arrived before it.
        #expect(try await account.properties(.account)["State"] == .string("ready"))
        #expect(changes.propertyChanges.isEmpty)
    }

    @Test func `an invalid line of the configuration is reported with its number`() async throws {
        let directory = try PrivateBus.current.directory
        try Pictures.add("b.png", folder: "home/Other")
        let path = directory.appending("home/.config/imagefeed/imagefeed.conf")
        try RunningDaemon.configure("[Provider local]\nnonsense\nDirectory=~/Other\n")
        let daemon = try await RunningDaemon()
        try await daemon.waitForLog("\(path), line 2: ")
        let client = try TestClient()
        #expect(try await client.titles(client.logIn("ada")) == ["b"])
    }

    @Test(arguments: [
        "DROP INDEX mark_by_photo", "DELETE FROM format WHERE name = 'local'",
        "ALTER TABLE account DROP COLUMN label",
        "PRAGMA ignore_check_constraints = 1; UPDATE slideshow SET name = '+it'",
        "PRAGMA foreign_keys = 0; INSERT INTO mark VALUES (77, 77, 'like')",
    ])
    func `likes and hidden photos survive damage of the file of the accounts`(
        damage: String
    ) async throws {
        let (daemon, client, account) = try await startWithUser(["a", "b", "c"])
        let ids = try await account.ids()
        for id in ids { _ = try await account.like(id) }
        let path = try await client.service.openSlideshow("kit")
        let slideshow = client.service.slideshow(path)
        try await slideshow.setInterval(60)
        try await slideshow.hide("local_ada/\(ids[0])")
        try await daemon.stop()
        try Disk.database().execute(damage)
        let next = try await RunningDaemon()
        try await next.waitForLog("data.sqlite.damaged-1")
        let again = try TestClient()
        try await again.waitUntilReady(again.account("local_ada"))
        let photos = try await again.account("local_ada").page("", cursor: "", count: 9).photos
        #expect(photos.compactMap { $0["liked"] } == [.bool(true), .bool(true), .bool(true)])
        #expect(try Disk.database().all("SELECT photo FROM hidden") { $0.text(0) } == [ids[0]])
    }

    @Test func `a backup that is restored while the daemon runs is used by the next one`()
        async throws
    {
        let (daemon, client, account) = try await startWithUser(["a", "b"])
        let ids = try await account.ids()
        _ = try await account.like(ids[0])
        let data = try PrivateBus.current.directory.appending(Disk.data)
        try FileManager.default.copyItem(atPath: data, toPath: "\(data).backup")
        _ = try await account.like(ids[1])
        try FileManager.default.moveItem(atPath: data, toPath: "\(data).old")
        try FileManager.default.moveItem(atPath: "\(data).backup", toPath: data)
        // The file has no like of this photo.
        let reply = await errorReply { _ = try await account.like(ids[1]) }
        #expect(reply?.name == ServiceError.storageFailed.name)
        #expect(try await daemon.process.exitStatus() == .code(0))
        withExtendedLifetime(client) {}
        let (_, again) = try await startDaemon()
        let restored = again.account("local_ada")
        try await again.waitUntilReady(restored)
        #expect(try await restored.photo(ids[0])["liked"] == .bool(true))
        #expect(try await restored.photo(ids[1])["liked"] == .bool(false))
        #expect(try await restored.like(ids[1]) == .done)
        #expect(try Disk.database().integer("SELECT count(*) FROM mark") == 2)
    }

    /// Damage that no check of SQLite finds.
    @Test(arguments: [
        "UPDATE account SET id = 'local-ada'", "UPDATE account SET label = x'61ff0065'",
        "UPDATE setting SET value = 'nobody'",
        "INSERT INTO slideshow_source VALUES ('kit', 7, 'a/b', '')",
        "UPDATE account SET provider = 'lo/al'",
    ])
    func `the daemon starts and replies after damage of a value`(damage: String) async throws {
        let (daemon, client, _) = try await startWithUser(["a"])
        let path = try await client.service.openSlideshow("kit")
        try await client.service.slideshow(path).setInterval(60)
        try await daemon.stop()
        try Disk.database().execute("\(damage); UPDATE slideshow SET interval = 1")
        let (_, again) = try await startDaemon()
        let ada = ServiceName.accounts.appending("local_ada")
        #expect(try await again.service.objects()[ada] != nil)
        let manager = try await again.service.properties()
        #expect(manager["DefaultAccount"] == .objectPath(ada))
        #expect(try await again.service.slideshow(path).properties().interval == 5)
    }

    // MARK: A bus that does not respond

    /// The daemon has 1.5 s for its exit. Without its limit, it would not end while the bus is stopped. This limit is
    /// longer, because the machine may be slow.
    private static let limit = Duration.seconds(60)

    /// Ends a process with `SIGTERM`, and expects that it exits in time with status 0.
    private func expectEnd(_ process: ChildProcess) async throws {
        let start = ContinuousClock.now
        process.terminate()
        #expect(try await process.exitStatus() == .code(0))
        #expect(ContinuousClock.now - start < Self.limit)
    }

    /// Returns the processor time of a process in clock ticks.
    private func processorTime(_ process: ChildProcess) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.id)/stat", encoding: .utf8)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 13 ? (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0) : 0
    }

    /// Root is exempt from the limit of processes.
    nonisolated private static let limits =
        [
            ("--nofile=24", "the limit of open files is 24"),
            ("--nofile=12", "the limit of open files is 12"),
            ("--fsize=0", "the limit of file sizes is 0 bytes"),
            ("--fsize=30000", "the limit of file sizes is 30000 bytes"),
        ]
        + (getuid() == 0
            ? [] : [("--nproc=6", "the limit of processes and threads, 6, is reached")])

    @Test(arguments: limits)
    func `a limit that is too low is reported`(limit: String, reason: String) async throws {
        let process = try ChildProcess(
            "/usr/bin/prlimit", [limit, RunningDaemon.path],
            environment: try RunningDaemon.environment())
        let (exit, _, error) = try await process.result()
        #expect(exit == .code(1))
        #expect(error.hasPrefix("imagefeedd: \(reason); raise it"), "\(error)")
        #expect(error.split(separator: "\n").count == 1)
    }

    @Test func `a bus that does not read does not delay the exit`() async throws {
        let (daemon, client, account) = try await startWithUser((0..<30).map { "\($0)" })
        #expect(try await client.titles(account).count == 30)
        let before = try processorTime(daemon.process)
        let bus = try PrivateBus.current.daemon
        daemon.process.kill(SIGSTOP)
        // The replies are larger than the buffer of a socket.
        let calls = (0..<400).map { _ in
            Task.immediate { _ = try? await account.page("", cursor: "", count: 30) }
        }
        // The bus has handled the calls when it replies to this one.
        _ = try await client.connection.owner(of: ServiceName.bus)
        bus.kill(SIGSTOP)
        daemon.process.kill(SIGCONT)
        // Wait until the daemon has filled the socket with replies and is blocked; no event reports that.
        var (last, same) = (before, 0)
        for _ in 0..<500 where same < 20 {
            try await Task.sleep(for: .milliseconds(10))
            let now = try processorTime(daemon.process)
            same = now == last && now > before ? same + 1 : 0
            last = now
        }
        try await expectEnd(daemon.process)
        bus.kill(SIGCONT)
        for call in calls { await call.value }
    }

    @Test func `a bus that does not respond at the start does not delay the exit`() async throws {
        let bus = try PrivateBus.current.daemon
        bus.kill(SIGSTOP)
        defer { bus.kill(SIGCONT) }
        let process = try RunningDaemon.start()
        // Wait until the signals have handlers; no event reports that.
        let mask: UInt64 = 1 << UInt64(SIGINT - 1) | 1 << UInt64(SIGTERM - 1)
        while process.isRunning {
            let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            let caught = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            if caught & mask == mask { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        try await expectEnd(process)
    }

    // MARK: Options

    @Test(arguments: [["--log-level"], ["--log-level", "loud"], ["-x"], ["file"]])
    func `an invalid command line is rejected`(arguments: [String]) async throws {
        #expect(try await RunningDaemon.start(arguments).result().exit == .code(64))
    }
}
