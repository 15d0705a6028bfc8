import BusAPI
import DBus
import TestSupport
import Testing

/// Tests of the slideshow over the bus, with photos of a local user.
@Suite(.privateBus, .timeLimit(.minutes(10))) @MainActor
struct SlideshowTests {
    /// The properties that a client shows.
    private struct Shown: Equatable, Sendable {
        var id = ""
        var image = ""

        /// Adopts the changed properties.
        ///
        /// - Returns: False if only one of the two properties that belong together changed.
        mutating func adopt(_ changes: [String: Variant]) -> Bool {
            guard changes["Photo"] != nil || changes["Image"] != nil else { return true }
            let id = Self.id(changes["Photo"])
            defer {
                self.id = id ?? self.id
                image = changes["Image"]?.string ?? image
            }
            return id == self.id || changes["Image"] != nil && id != nil
        }

        static func id(_ photo: Variant?) -> String? {
            guard case .dictionary(let entries, _, _) = photo else { return nil }
            let entry = entries.first { $0.key.string == "id" }
            return entry?.value.plain.string ?? (entries.isEmpty ? "" : nil)
        }
    }

    /// A widget: it reads the properties once and follows the changes.
    @MainActor
    private final class Widget {
        let client: TestClient
        let shown = Observed(Shown())
        let isTorn = Observed(false)
        private var subscription: SignalSubscription?

        init() async throws {
            client = try TestClient()
            subscription = try await slideshow.watch { [shown, isTorn] changes in
                shown.update { shown in
                    if !shown.adopt(changes) { isTorn.update { $0 = true } }
                }
            }
            let properties = try await slideshow.properties()
            shown.update { _ = $0.adopt(properties) }
        }

        var slideshow: SlideshowClient { client.service.slideshow }

        func waits(for id: String) async throws {
            try await shown.wait { $0.id == id ? true : nil }
        }
    }

    /// Starts a daemon with three photos of a local user, and returns the IDs of the photos, newest first.
    private func start() async throws -> (RunningDaemon, ids: [String]) {
        try Pictures.add(["a", "b", "c"])
        let daemon = try await RunningDaemon()
        let client = try TestClient()
        let account = try await client.logIn("ada")
        try await client.waitUntilReady(account)
        let photos = try await account.page("", cursor: "", count: 10).photos
        try await client.service.slideshow.setImageSize("full")
        return (daemon, photos.compactMap { $0["id"]?.string }.map { "local_ada/\($0)" })
    }

    @Test func `widgets and the command line see the same photo, and each step changes both`()
        async throws
    {
        let (daemon, ids) = try await start()
        let first = try await Widget()
        #expect(first.shown.value == Shown())
        try await first.slideshow.attach()
        try await first.waits(for: ids[0])
        let second = try await Widget()
        #expect(second.shown.value == first.shown.value)
        #expect(second.shown.value.image.hasSuffix("/Pictures/a.png"))
        let control = try TestClient().service.slideshow
        let beginning = ContinuousClock.now
        for step in 1...30 {
            try await control.next()
            try await first.waits(for: ids[step % 3])
            try await second.waits(for: ids[step % 3])
        }
        // A wait of two seconds in each step would exceed this limit.
        #expect(ContinuousClock.now - beginning < .seconds(60))
        #expect(!first.isTorn.value && !second.isTorn.value)
        try await daemon.stop()
    }

    @Test func `a killed daemon shows the same photo with the same history after its restart`()
        async throws
    {
        let (killed, ids) = try await start()
        let control = try TestClient().service.slideshow
        try await control.setShuffle(true)
        try await control.setInterval(60)
        try await control.setPaused(true)
        try await control.hide(ids[1])
        try await control.next()
        try await control.next()
        let before = try await control.properties()
        try await killed.kill()
        let daemon = try await RunningDaemon()
        let after = try await control.properties()
        #expect(after["Photo"] == before["Photo"])
        #expect(Shown.id(after["Photo"])?.isEmpty == false)
        for name in ["Image", "Paused", "Interval", "Shuffle", "Source", "Hidden", "CanGoPrevious"]
        {
            #expect(after[name] == before[name], "\(name)")
        }
        #expect(after["Hidden"]?.strings == [ids[1]])
        let shown = Shown.id(after["Photo"]) ?? ""
        try await control.previous()
        let previous = Shown.id(try await control.properties()["Photo"]) ?? ""
        #expect(Set([shown, previous, ids[1]]) == Set(ids))
        await expectError(ServiceError.notFound.name) { try await control.previous() }
        try await daemon.stop()
    }

    @Test func `a photo whose file is removed is replaced at once`() async throws {
        let (daemon, ids) = try await start()
        let widget = try await Widget()
        try await widget.slideshow.attach()
        try await widget.waits(for: ids[0])
        try Pictures.remove("a.png")
        try await widget.waits(for: ids[1])
        try Pictures.remove("b.png")
        try Pictures.remove("c.png")
        try await widget.waits(for: "")
        await expectError(ServiceError.notFound.name) { try await widget.slideshow.next() }
        try Pictures.add("d.png")
        try await poll {
            do {
                try await widget.slideshow.next()
                return true
            } catch {
                return false
            }
        }
        try await poll { widget.shown.value.image.hasSuffix("/d.png") }
        try await daemon.stop()
    }

    @Test func `invalid settings are refused`() async throws {
        let (daemon, ids) = try await start()
        let client = try TestClient()
        let control = client.service.slideshow
        for seconds: UInt32 in 1...4 {
            await expectError(.invalidArgs) { try await control.setInterval(seconds) }
        }
        await expectError(.invalidArgs) { try await control.setImageSize("huge") }
        let missing = ServiceName.accounts.appending("local_bob")
        await expectError(ServiceError.notFound.name) { try await control.setSource(missing, "") }
        await expectError(ServiceError.notFound.name) {
            try await control.setSource(ServiceName.combined, "nothing")
        }
        let ada = ServiceName.accounts.appending("local_ada")
        await expectError(ServiceError.notFound.name) {
            try await control.setSource(ada, "album:nothing")
        }
        try await control.setSource(ada, "all")
        await expectError(ServiceError.notFound.name) { try await control.show("local_ada/x") }
        await expectError(ServiceError.notFound.name) { try await control.hide("local_ada/x") }
        await expectError(ServiceError.notFound.name) { try await control.unhide(ids[0]) }
        await expectError(ServiceError.notFound.name) { try await control.previous() }
        try await control.show(ids[2])
        #expect(Shown.id(try await control.properties()["Photo"]) == ids[2])
        try await daemon.stop()
    }
}

extension Variant {
    /// The value that is contained in a variant of a variant.
    fileprivate var plain: Variant { if case .variant(let value) = self { value } else { self } }
}
