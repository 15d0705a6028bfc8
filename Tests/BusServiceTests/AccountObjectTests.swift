import Contract
import DBus
import EngineCore
import EngineModel
import ProviderKit
import TestSupport
import Testing

@testable import BusService

@Suite @MainActor struct AccountObjectTests {
    @Test func `the end of a rate limit on another day has its date`() throws {
        let end = Timestamp.now + .seconds(2 * 86_400)
        let time = try #require(end.localText("%Y-%m-%d %H:%M"))
        #expect(AccountState.rateLimited(until: end).reason.contains(time))
    }
}

/// Accounts over the bus.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct AccountRemovalTests {
    @Test func `a removal announces no other state of the account`() async throws {
        let fixture = try await BusFixture(["ada"])
        let account = try fixture.account("ada")
        let client = try PrivateBus.current.connect()
        let signals = Observed<[String]>()
        let subscription = try await client.subscribe(MatchRule(sender: ServiceName.bus)) {
            signal in
            if signal.member == "InterfacesRemoved" { signals.append("removed") }
            guard signal.member == "PropertiesChanged", signal.path == account.path,
                let (interface, changes, _): (String, [String: Variant], [String]) =
                    try? signal.read()
            else { return }
            for name in changes.keys { signals.append("\(interface).\(name)") }
        }
        _ = try await account.page("", cursor: "", count: 1)
        try await fixture.until { account.state == .ready }
        _ = try await client.owner(of: ServiceName.bus)
        signals.update { $0 = [] }
        try await fixture.engine.accounts.remove(account)
        try await signals.wait { $0.contains("removed") ? true : nil }
        let state = "\(InterfaceName.account).State"
        #expect(!signals.value.contains { $0.hasPrefix(state) }, "\(signals.value)")
        withExtendedLifetime(subscription) {}
    }
}
