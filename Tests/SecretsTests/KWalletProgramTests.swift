import DBus
import Glibc
import TestSupport
import Testing
import Web

@testable import Secrets

/// Tests with ksecretd of KDE Frameworks, on the bus of `dist/development/try-keyrings`, with an open and empty wallet.
@Suite(.enabled(if: getenv("IMAGEFEED_KWALLET_BUS") != nil), .timeLimit(.minutes(5)))
struct KWalletProgramTests {
    @Test func `a secret is stored, replaced and deleted, and a closed wallet preserves it`()
        async throws
    {
        await #expect(processExitsWith: .success) { @MainActor in
            await recordErrors {
                let address = String(cString: try #require(getenv("IMAGEFEED_KWALLET_BUS")))
                setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
                let store = KeyringStore(limits: .wide)
                try await expectStorage(store)

                try await store.store("token")
                let service = BusProxy(
                    try BusConnection(address: address), "org.freedesktop.secrets",
                    "/org/freedesktop/secrets")
                let wallet: ObjectPath = "/org/freedesktop/secrets/collection/kdewallet"
                let _: ([ObjectPath], ObjectPath) = try await service.call(
                    "org.freedesktop.Secret.Service", "Lock", [wallet])
                await expectLocked(store)
                let (open, closed): ([ObjectPath], [ObjectPath]) = try await service.call(
                    "org.freedesktop.Secret.Service", "SearchItems", ["account": "a"])
                #expect(open.isEmpty && closed.count == 1)
            }
        }
    }
}
