import Contract
import DBus
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests of the start and the exit of the daemon.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct LifeTests {
    @Test func `the loss of the bus ends the daemon with status 0`() async throws {
        let daemon = try await RunningDaemon()
        try await PrivateBus.current.stop()
        #expect(try await daemon.process.exitStatus() == .code(0))
    }

    @Test func `a second daemon takes over only with the option --replace`() async throws {
        try Pictures.add(["a"])
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        let second = try await RunningDaemon.start().result()
        #expect(second.exit == .code(1))
        #expect(second.error.contains("another imagefeedd is running"))
        #expect(second.error.contains("--replace"))
        let third = try await RunningDaemon(["--replace"])
        #expect(try await daemon.process.exitStatus() == .code(0))
        #expect(try await client.titles(account) == ["a"])
        try await third.stop()
    }

    @Test func `the daemon reports a missing bus`() async throws {
        try await PrivateBus.current.stop()
        let result = try await RunningDaemon.start().result()
        #expect(result.exit == .code(69))
        #expect(result.error.hasPrefix("imagefeedd: there is no session bus: "))
        #expect(result.error.split(separator: "\n").count == 1)
    }

    @Test func `a daemon that the bus starts shows all accounts in its first reply`() async throws {
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let paths = [try await client.logIn("ada").path, try await client.logIn("bob").path]
        try await daemon.kill()
        let variables = try RunningDaemon.environment().map { "'\($0.key)=\($0.value)'" }
        try PrivateBus.current.addService(
            ServiceName.bus,
            command: "/usr/bin/env \(variables.joined(separator: " ")) '\(RunningDaemon.path)'")
        try await BusProxy(client.connection, .bus, "/org/freedesktop/DBus")
            .perform("org.freedesktop.DBus", "ReloadConfig")
        let objects = try await client.service.objects()
        for path in paths {
            #expect(objects[path]?[InterfaceName.feed.text] != nil)
            let state = objects[path]?[InterfaceName.account.text]?["State"]?.string
            #expect(["loading", "ready"].contains(state))
        }
        let id: UInt32 = try await BusProxy(client.connection, .bus, "/org/freedesktop/DBus")
            .call("org.freedesktop.DBus", "GetConnectionUnixProcessID", ServiceName.bus.text)
        let hasExited = Observed(false)
        let watch = try await client.connection.watchOwner(of: ServiceName.bus) { owner in
            hasExited.update { $0 = owner == nil }
        }
        Glibc.kill(Int32(id), SIGTERM)
        try await hasExited.wait { $0 ? true : nil }
        withExtendedLifetime(watch) {}
    }

    @Test func `SIGHUP applies a new pictures folder`() async throws {
        try Pictures.add(["a"])
        try Pictures.add("b.png", folder: "home/Other")
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        #expect(try await client.titles(account) == ["a"])
        let updates = try await Signals(client.connection, account.path, .feed, "Updated")
        try PrivateBus.current.directory.write(
            "[Provider local]\nDirectory=Other\n",
            to: "home/.config/imagefeed/imagefeed.conf")
        daemon.process.kill(SIGHUP)
        _ = try await updates.messages.elements(1)
        try await client.waitUntilReady(account)
        // The signal may be that of the first scan.
        try await poll { try await client.titles(account) == ["b"] }
        try await daemon.stop()
    }

    @Test func `SIGHUP with the same pictures folder changes nothing`() async throws {
        try Pictures.add(["a"])
        let daemon = try await RunningDaemon(["--log-level", "info"])
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let changes = try await Signals(
            client.connection, account.path, "org.freedesktop.DBus.Properties",
            "PropertiesChanged")
        try PrivateBus.current.directory.write(
            "[Provider local]\nDirectory=Pictures\n",
            to: "home/.config/imagefeed/imagefeed.conf")
        daemon.process.kill(SIGHUP)
        try await daemon.process.standardError.wait { output in
            output.text.contains("The configuration was read again") ? true : nil
        }
        // Signals before the reply have arrived before it.
        #expect(try await account.properties(.account)["State"] == .string("ready"))
        let changed = try changes.messages.value.map { message in
            let change: (String, [String: Variant], [String]) = try message.read()
            return change.0
        }
        // The avatar is drawn in the background after the login.
        #expect(changed.allSatisfy { $0 == InterfaceName.profile.text })
        try await daemon.stop()
    }

    @Test func `an invalid line of the configuration is reported with its number`() async throws {
        let directory = try PrivateBus.current.directory
        try Pictures.add("b.png", folder: "home/Other")
        let path = try directory.write(
            "[Provider local]\nnonsense\nDirectory=~/Other\n",
            to: "home/.config/imagefeed/imagefeed.conf")
        let daemon = try await RunningDaemon()
        try await daemon.process.standardError.wait { output in
            output.text.contains("\(path), line 2: ") ? true : nil
        }
        let client = try TestClient()
        #expect(try await client.titles(client.logIn("ada")) == ["b"])
        try await daemon.stop()
    }

    @Test func `accounts of a newer version are not changed`() async throws {
        let path = try PrivateBus.current.directory.write(
            "", to: "home/.local/share/imagefeed/accounts.sqlite")
        try Self.emptyDatabase(version: 99).write(to: URL(filePath: path))
        let result = try await RunningDaemon.start().result()
        #expect(result.exit == .code(1))
        #expect(result.error.contains("accounts.sqlite was written by a newer version"))
        #expect(try Data(contentsOf: URL(filePath: path))[60..<64].elementsEqual([0, 0, 0, 99]))
    }

    /// Returns an SQLite file without a table. Source: "Database File Format" of SQLite.
    private static func emptyDatabase(version: UInt8) -> Data {
        var bytes = Array("SQLite format 3\0".utf8) + [2, 0, 1, 1, 0, 64, 32, 32]
        bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
        // The change counter of the file, its number of pages, the format of the schema, and the encoding
        for (offset, value) in [(27, 1), (31, 1), (47, 4), (59, 1), (63, version), (95, 1)] {
            bytes[offset] = UInt8(value)
        }
        // A leaf page of a table without cells
        bytes[100] = 13
        bytes[105] = 2
        return Data(bytes)
    }
}
