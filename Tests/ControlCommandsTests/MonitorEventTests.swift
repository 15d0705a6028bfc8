import Contract
import ProviderKit
import Testing

@testable import ControlCommands
@testable import DBus

@MainActor struct MonitorEventTests {
    private let account = ServiceName.accounts.appending("local_ada")

    private func json(_ event: MonitorEvent) -> String {
        var event = event
        event.time = Timestamp(secondsSince1970: 7)
        return event.json.text
    }

    /// Returns the first event of a signal of the account.
    private func reported<each Argument: BusType>(
        _ interface: InterfaceName, _ member: MemberName, _ arguments: repeat each Argument
    ) throws -> MonitorEvent {
        let signal = try BusMessage(.signal(account, interface, member), repeat each arguments)
        return try #require(MonitorEvent.events(in: signal).first)
    }

    /// Returns the event of changed properties of an object.
    private func change(
        _ interface: InterfaceName, _ values: [String: Variant], of path: ObjectPath? = nil
    ) throws -> MonitorEvent {
        let signal = try BusMessage(
            .signal(path ?? account, "org.freedesktop.DBus.Properties", "PropertiesChanged"),
            interface.text, values, [String]())
        return try #require(MonitorEvent.events(in: signal).first)
    }

    /// Expects the text of an event of the account, and its members in JSON.
    private func expect(
        _ event: MonitorEvent, _ name: String, _ text: String, _ members: String,
        location: SourceLocation = #_sourceLocation
    ) {
        let fields = "\t\(name)\tlocal_ada\t\(text)\n"
        #expect(event.text(for: .pipe).hasSuffix(fields), sourceLocation: location)
        let start = #"{"event":"\#(name)","time":7,"account":"\#(account)","#
        #expect(json(event) == "\(start)\(members)}", sourceLocation: location)
    }

    @Test func `each signal of an account is an event with the arguments as members`() throws {
        let updated = try reported(.feed, "Updated", "all", 3 as UInt32)
        expect(updated, "photos-updated", "3 new photos in all", #""source":"all","new":3"#)
        let removed = try reported(.feed, "PhotosRemoved", (1...9).map(String.init))
        expect(
            removed, "photos-removed", "9 photos removed: 1 2 3 4 5 …",
            #""photos":["1","2","3","4","5","6","7","8","9"]"#)
        let changed = try reported(
            .feed, "PhotoChanged", "7", ["pending": Variant.bool(true), "liked": .bool(false)])
        expect(
            changed, "photo-changed", "photo 7 changed: liked, pending",
            #""photo":"7","changes":{"liked":false,"pending":true}"#)
        let liked = try reported(.like, "Changed", "7", true, 12 as UInt32)
        expect(liked, "like-confirmed", "photo 7 is liked", #""photo":"7","liked":true,"likes":12"#)
        let failed = try reported(
            .like, "Failed", "7", false, ServiceError.notFound.name.text, "The photo was deleted.")
        expect(
            failed, "like-failed", "photo 7 could not be unliked: The photo was deleted.",
            #""photo":"7","wanted":false,"error":"org.imagefeed.ImageFeed1.Error.NotFound","#
                + #""message":"The photo was deleted.""#)
        let remaining = try reported(.account, "TokenRemains", "It remains.")
        expect(remaining, "token-remains", "It remains.", #""message":"It remains.""#)
    }

    @Test func `a changed state is an event`() throws {
        let event = try change(
            .account, ["StateReason": .string("No\u{1B} net."), "State": .string("offline")])
        #expect(
            json(event) == """
                {"event":"account-changed","time":7,"account":"\(account)",\
                "State":"offline","StateReason":"No\\u001b net."}
                """)
        let text = event.text(for: .terminal(columns: 80, isColoured: false))
        #expect(
            text.hasSuffix("local_ada  account changed: State offline, StateReason “No net.”\n"))
    }

    @Test func `each of many changed photos is an event`() throws {
        let photos = ["7", "8"].map { id in
            ["id": Variant.string(id), "account": .objectPath(account), "album": .string("See")]
        }
        let signal = try BusMessage(.signal(account, .feed, "PhotosChanged"), photos)
        let events = MonitorEvent.events(in: signal)
        #expect(events.map(\.summary) == ["photo 7 changed: album", "photo 8 changed: album"])
        #expect(json(events[1]).hasSuffix(#""photo":"8","changes":{"album":"See"}}"#))
    }

    @Test func `changes of pending likes and profiles are events`() throws {
        let likes = try change(
            .like, ["Count": .uint32(2), "Pending": .array([.string("1"), .string("2")], of: "s")])
        #expect(
            (likes.name, likes.summary) == ("like-changed", "like changed: Pending 1 2, Count 2"))
        #expect(json(likes).hasSuffix(#""Pending":["1","2"],"Count":2}"#))
        let sent = try change(.like, ["Pending": .array([], of: "s")])
        #expect(sent.summary == "like changed: Pending none")
        let profile = try change(
            .profile, ["Name": .string("Ada L."), "Avatar": .string(""), "State": .string("ready")])
        #expect(profile.name == "profile-changed")
        #expect(profile.summary == "profile changed: State ready, Name “Ada L.”")
        let avatar = try change(.profile, ["Avatar": .string("")])
        #expect(avatar.summary == "profile changed: Avatar")
    }

    @Test func `another photo of the slideshow is an event`() throws {
        let photo = Variant.dictionary(
            [.init(key: .string("id"), value: .variant(.string("local_ada/7")))], key: "s",
            value: "v")
        let event = try change(
            .slideshow, ["Photo": photo, "Image": .string("/i")], of: ServiceName.slideshow)
        #expect(event.name == "slideshow-changed")
        #expect(event.summary == "slideshow changed: Photo local_ada/7, Image /i")
        #expect(
            json(event) == """
                {"event":"slideshow-changed","time":7,"slideshow":"\(ServiceName.slideshow)",\
                "Photo":{"id":"local_ada/7"},"Image":"/i"}
                """)
    }

    @Test func `the feed of the combined account repeats no events`() throws {
        let properties: InterfaceName = "org.freedesktop.DBus.Properties"
        let path = ServiceName.combined
        for signal in [
            try BusMessage(.signal(path, .feed, "Updated"), "all", 3 as UInt32),
            try BusMessage(.signal(path, .like, "Changed"), "a/7", true, 1 as UInt32),
            try BusMessage(
                .signal(path, properties, "PropertiesChanged"), InterfaceName.like.text,
                ["Count": Variant.uint32(1)], [String]()),
        ] { #expect(MonitorEvent.events(in: signal).isEmpty) }
        let incomplete = try change(
            .combined, ["Incomplete": .array([.objectPath(account)], of: "o")], of: path)
        #expect(incomplete.summary == "combined changed: Incomplete local_ada")
    }

    @Test func `added and removed accounts are events`() throws {
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

    @Test func `a signal of another version is an event with its arguments`() throws {
        let event = try reported(.slideshow, "Restarted", "all", 7 as UInt32)
        expect(
            event, "slideshow-restarted", #"signal Slideshow-Restarted: ["all",7]"#,
            #""arguments":["all",7]"#)
        let other = try BusMessage(.signal(account, "org.example.Other", "Restarted"), "all")
        #expect(MonitorEvent.events(in: other).isEmpty)
    }
}
