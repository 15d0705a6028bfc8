package import DBus
package import Testing

/// A message bus for a single test.
package struct PrivateBus: Sendable {
    /// The bus of the running test, which must have the trait ``Testing/Trait/privateBus``.
    package static var current: PrivateBus {
        get throws { try #require(running, "the test lacks the trait .privateBus") }
    }
    @TaskLocal fileprivate static var running: PrivateBus?

    package let address: String
    package let daemon: ChildProcess
    /// The home of the bus and of the programs that it starts.
    package let directory: TemporaryDirectory

    /// Starts a bus without activatable services; see ``addService(_:command:)``.
    package init() async throws {
        directory = try TemporaryDirectory()
        try directory.write("", to: "services/.empty")
        let configuration = try directory.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(directory.appending("bus"))</listen>
              <servicedir>\(directory.appending("services"))</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
              <limit name="max_incoming_bytes">1000000000</limit>
              <limit name="max_outgoing_bytes">1000000000</limit>
              <limit name="max_message_size">1000000000</limit>
              <limit name="max_replies_per_connection">50000</limit>
              <limit name="max_match_rules_per_connection">50000</limit>
            </busconfig>

            """, to: "bus.conf")
        daemon = try ChildProcess(
            "/usr/bin/dbus-daemon",
            ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"],
            environment: directory.environment)
        address = try await daemon.firstLine()
        let isReady = !address.isEmpty
        try #require(isReady, "dbus-daemon did not start: \(daemon.standardError.value.text)")
    }

    /// Performs a function with a new bus as ``current``, and stops the bus. For a test in a separate process; other
    /// tests have the trait ``Testing/Trait/privateBus``.
    @concurrent
    package static func run(_ function: @Sendable @concurrent () async throws -> Void) async throws
    {
        // The tests of a process share its main thread, which messages of 100 MB occupy for seconds.
        await MainActor.run { BusConnection.defaultTimeout = nil }
        let bus = try await PrivateBus()
        try await bus.daemon.stop {
            try await $running.withValue(bus) { try await function() }
        }
    }

    /// The environment of a program that uses this bus.
    package var environment: [String: String] {
        var environment = directory.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        return environment
    }

    /// Adds an activatable service: the bus starts `command` on the first message to `name`.
    package func addService(_ name: BusName, command: String) throws {
        try directory.write(
            "[D-BUS Service]\nName=\(name)\nExec=\(command)\n", to: "services/\(name).service")
    }

    /// Opens a new connection to the bus.
    @MainActor
    package func connect() throws -> BusConnection { try BusConnection(address: address) }

    /// Kills the bus daemon and waits for its exit.
    package func stop() async throws { try await daemon.stop() }
}

/// A trait that starts a bus for each test.
package struct PrivateBusTrait: TestTrait, SuiteTrait, TestScoping {
    package var isRecursive: Bool { true }

    @concurrent
    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await PrivateBus.run(function)
    }
}

extension Trait where Self == PrivateBusTrait {
    /// A bus for each test, available as ``PrivateBus/current``.
    package static var privateBus: PrivateBusTrait { PrivateBusTrait() }
}
