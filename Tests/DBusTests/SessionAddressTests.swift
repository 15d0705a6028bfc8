import DBus
import Glibc
import TestSupport
import Testing

/// Each test runs in a separate process, because it changes the environment.
@Suite(.timeLimit(.minutes(10)))
struct SessionAddressTests {
    @Test func `DBUS_SESSION_BUS_ADDRESS is used first`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            await recordErrors {
                setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x", 1)
                let address = try BusConnection.sessionAddress()
                #expect(address == "unix:path=/x")
            }
        }
    }

    @Test func `the socket in XDG_RUNTIME_DIR is used second`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            await recordErrors {
                let directory = try TemporaryDirectory()
                unsetenv("DBUS_SESSION_BUS_ADDRESS")
                try directory.write("", to: "a,b/bus")
                setenv("XDG_RUNTIME_DIR", directory.appending("a,b"), 1)
                let address = try BusConnection.sessionAddress()
                #expect(address == "unix:path=\(directory.path)/a%2cb/bus")
            }
        }
    }

    @Test func `connecting fails without an address and a socket`() async {
        await #expect(processExitsWith: .success) { @MainActor in
            await recordErrors {
                setenv("DBUS_SESSION_BUS_ADDRESS", "", 1)
                for directory in ["", "relative", "/nonexistent"] {
                    setenv("XDG_RUNTIME_DIR", directory, 1)
                    #expect(throws: BusError.self) { try BusConnection.session() }
                }
                unsetenv("XDG_RUNTIME_DIR")
                #expect(throws: BusError.self) { try BusConnection.session() }
            }
        }
    }
}
