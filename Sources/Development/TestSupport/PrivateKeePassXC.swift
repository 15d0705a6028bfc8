internal import DBus
internal import LoopbackHTTP

/// KeePassXC with its default settings, on a separate screen and on the bus of one test.
///
/// KeePassXC has one open database, which is the default collection. xdotool sends keys to its dialogs; there is no
/// window manager.
@MainActor
package final class PrivateKeePassXC {
    /// The dialogs of KeePassXC 2.7, by their window titles.
    package enum Dialog: String, CaseIterable, Sendable {
        /// The access to items. Return presses the default button "Allow Selected".
        case access = "Access Request"
        /// The password of the database.
        case unlock = "Unlock Database"
    }

    private let screen: ChildProcess
    private let program: ChildProcess
    private let environment: [String: String]
    private let directory: TemporaryDirectory
    private let connection: BusConnection
    private static let password = "open sesame"

    /// Starts KeePassXC and waits until its database is available.
    package init(on bus: PrivateBus) async throws {
        directory = try TemporaryDirectory()
        connection = try bus.connect()
        var environment = directory.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        screen = try ChildProcess(
            "/usr/bin/Xvfb",
            ["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
            environment: environment)
        environment["DISPLAY"] = ":\(try await screen.firstLine())"
        environment["QT_QPA_PLATFORM"] = "xcb"
        self.environment = environment
        let database = try await Self.makeDatabase(directory)
        try directory.write(
            """
            [General]
            ConfigVersion=2
            UpdateCheckMessageShown=true
            [GUI]
            CheckForUpdates=false
            [FdoSecrets]
            Enabled=true

            """, to: "keepassxc.ini")
        program = try ChildProcess(
            "/usr/bin/keepassxc",
            ["--config", directory.appending("keepassxc.ini"), "--pw-stdin", database],
            environment: environment, input: "\(Self.password)\n")
        let owner = Observed<BusName?>(nil)
        let watch = try await connection.watchOwner(of: KeyringControl.service) { name in
            owner.update { $0 = name }
        }
        try await owner.wait { $0 }
        withExtendedLifetime(watch) {}
        try await poll { try await !isLocked }
    }

    /// Creates a database whose root group is exposed to other programs.
    ///
    /// Source: `FdoSecretsSettings.cpp` of KeePassXC for the key of the custom data.
    private static func makeDatabase(_ directory: TemporaryDirectory) async throws -> String {
        let group = "a8935653-7768-47c7-b89e-ed3472d1712e"
        let contents = try directory.write(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <KeePassFile><Meta><Generator>KeePassXC</Generator>
            <CustomData><Item><Key>FDO_SECRETS_EXPOSED_GROUP</Key><Value>{\(group)}</Value></Item></CustomData>
            <RecycleBinEnabled>True</RecycleBinEnabled></Meta>
            <Root><Group><UUID>qJNWU3doR8e4nu00ctFxLg==</UUID><Name>Passwords</Name></Group></Root>
            </KeePassFile>
            """, to: "database.xml")
        let database = directory.appending("database.kdbx")
        let tool = try ChildProcess(
            "/usr/bin/keepassxc-cli", ["import", "-q", "-p", "-t", "100", contents, database],
            environment: directory.environment, input: "\(password)\n\(password)\n")
        let (exit, _, error) = try await tool.result()
        guard exit == .code(0) else { throw KeePassXCFailure(text: error) }
        return database
    }

    /// Kills KeePassXC and its screen.
    package func stop() async throws {
        try await program.stop()
        try await screen.stop()
    }

    // MARK: The service

    private var service: BusProxy {
        BusProxy(connection, KeyringControl.service, "/org/freedesktop/secrets")
    }

    private var collection: ObjectPath? {
        get async throws {
            let path: ObjectPath = try await service.call(
                "org.freedesktop.Secret.Service", "ReadAlias", "default")
            return path == .root ? nil : path
        }
    }

    /// True if the database is locked or not open yet.
    package var isLocked: Bool {
        get async throws {
            guard let collection = try await collection else { return true }
            do {
                return try await BusProxy(connection, KeyringControl.service, collection)
                    .property("org.freedesktop.Secret.Collection", "Locked") != .bool(false)
            } catch BusError.reply(let reply) where reply.name == .unknownObject {
                // KeePassXC removes the object and adds it again while it opens the database.
                return true
            }
        }
    }

    /// Locks the database, as a user does.
    package func lock() async throws {
        guard let collection = try await collection else { return }
        let (_, prompt): ([ObjectPath], ObjectPath) = try await service.call(
            "org.freedesktop.Secret.Service", "Lock", [collection])
        try await BusProxy(connection, KeyringControl.service, prompt).perform(
            "org.freedesktop.Secret.Prompt", "Prompt", "")
        try await poll { try await isLocked }
    }

    /// The number of items with these attributes.
    package func count(_ attributes: [String: String]) async throws -> Int {
        let (unlocked, locked): ([ObjectPath], [ObjectPath]) = try await service.call(
            "org.freedesktop.Secret.Service", "SearchItems", attributes)
        return unlocked.count + locked.count
    }

    // MARK: The screen

    /// Waits for a dialog.
    package func waitForDialog(_ dialog: Dialog) async throws {
        try await poll { try await !windows(dialog).isEmpty }
    }

    /// The dialogs that are shown.
    package var dialogs: [Dialog] {
        get async throws {
            var shown: [Dialog] = []
            for dialog in Dialog.allCases where try await !windows(dialog).isEmpty {
                shown.append(dialog)
            }
            return shown
        }
    }

    /// Runs `operation`, and allows the access to items in each dialog that appears meanwhile.
    package func allowingAccess<Value: Sendable>(
        _ operation: () async throws -> Value
    ) async throws -> Value {
        try await answeringAccess(with: "Return", operation)
    }

    /// Runs `operation`, and denies the access to items once in each dialog that appears meanwhile.
    package func denyingAccess<Value: Sendable>(
        _ operation: () async throws -> Value
    ) async throws -> Value {
        try await answeringAccess(with: "Escape", operation)
    }

    /// KeePassXC 2.7.4 sometimes allows the access before its dialog can be found, so the operation is awaited, and not
    /// the dialog.
    private func answeringAccess<Value: Sendable>(
        with key: String, _ operation: () async throws -> Value
    ) async throws -> Value {
        let answers = Task { while true { try await answerAccess(with: key) } }
        defer { answers.cancel() }
        return try await operation()
    }

    private func answerAccess(with key: String) async throws {
        try await waitForDialog(.access)
        let asked = Set(try await windows(.access))
        var left = asked
        // A window that has just appeared may ignore a key.
        while !left.isEmpty {
            for window in left { try await press(key, in: window) }
            left = asked.intersection(try await windows(.access))
        }
    }

    private func windows(_ dialog: Dialog) async throws -> [String] {
        let (_, output, _) = try await xdotool(
            "search", "--onlyvisible", "--name", dialog.rawValue)
        return output.split(separator: "\n").map(String.init)
    }

    private func press(_ key: String, in window: String) async throws {
        // A missing window is not an error, because a dialog may have two windows.
        _ = try await xdotool("key", "--window", window, key)
    }

    private func xdotool(
        _ arguments: String...
    ) async throws -> (exit: ChildProcess.Exit, output: String, error: String) {
        try Task.checkCancellation()
        return try await ChildProcess("/usr/bin/xdotool", arguments, environment: environment)
            .result()
    }
}

/// A failure to create a KeePassXC database.
package struct KeePassXCFailure: Error {
    package let text: String
}
