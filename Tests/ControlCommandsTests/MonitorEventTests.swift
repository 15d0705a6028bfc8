import BusAPI
import Testing

@testable import ControlCommands
@testable import DBus

@MainActor
struct MonitorEventTests {
    private let account = ServiceName.accounts.appending("local_ada")

    private func json(_ event: MonitorEvent) -> String {
        var event = event
        event.time = Timestamp(7)
        return event.json.text
    }

    @Test func `new photos are an event`() throws {
        let signal = try BusMessage(.signal(account, .feed, "Updated"), "all", 3 as UInt32)
        let event = try #require(MonitorEvent.events(in: signal).first)
        #expect(
            json(event) == """
                {"event":"photos-updated","time":7,"account":"\(account)","source":"all","new":3}
                """)
        #expect(
            event.text(for: .pipe).hasSuffix("\tphotos-updated\tlocal_ada\t3 new photos in all\n"))
    }

    @Test func `a changed state is an event`() throws {
        let signal = try BusMessage(
            .signal(account, "org.freedesktop.DBus.Properties", "PropertiesChanged"),
            InterfaceName.account.text,
            ["StateReason": Variant.string("No\u{1B} net."), "State": .string("offline")],
            [String]())
        let event = try #require(MonitorEvent.events(in: signal).first)
        #expect(
            json(event) == """
                {"event":"account-changed","time":7,"account":"\(account)",\
                "State":"offline","StateReason":"No\\u001b net."}
                """)
        let text = event.text(for: .terminal(columns: 80, isColoured: false))
        #expect(
            text.hasSuffix("local_ada  account changed: State offline, StateReason “No net.”\n"))
    }

    @Test func `accounts come and go`() throws {
        let manager: InterfaceName = "org.freedesktop.DBus.ObjectManager"
        let added = try BusMessage(
            .signal(ServiceName.root, manager, "InterfacesAdded"), account,
            [
                InterfaceName.account.text: ["State": Variant.string("ready")],
                InterfaceName.feed.text: [:],
            ])
        #expect(MonitorEvent.events(in: added).map(\.name) == ["account-added"])
        let removed = try BusMessage(
            .signal(ServiceName.root, manager, "InterfacesRemoved"), account,
            [InterfaceName.account.text, InterfaceName.feed.text])
        #expect(MonitorEvent.events(in: removed).map(\.name) == ["account-removed"])
    }

    @Test func `removed photos are all in the JSON and some on the line`() throws {
        let ids = (1...9).map(String.init)
        let signal = try BusMessage(.signal(account, .feed, "PhotosRemoved"), ids)
        let event = try #require(MonitorEvent.events(in: signal).first)
        #expect(event.sentence == "9 photos removed: 1 2 3 4 5 …")
        #expect(json(event).hasSuffix(#""photos":["1","2","3","4","5","6","7","8","9"]}"#))
    }

    @Test func `a signal of other types is no event`() throws {
        let signal = try BusMessage(.signal(account, .feed, "Updated"), "all")
        #expect(MonitorEvent.events(in: signal).isEmpty)
        let unknown = try BusMessage(.signal(account, .feed, "Unheard"), "all")
        #expect(MonitorEvent.events(in: unknown).isEmpty)
    }
}
