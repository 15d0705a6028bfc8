import Contract
import DBus
import Foundation
import Storage
import TestSupport
import Testing

/// Tests of the slideshow over the bus, with photos of a local user.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
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
            let properties = SlideshowProperties(ServiceName.slideshow, changes)
            let id = changes["Photo"].map { _ in properties.photo?.id ?? "" }
            defer {
                self.id = id ?? self.id
                image = changes["Image"]?.string ?? image
            }
            return id == self.id || changes["Image"] != nil && id != nil
        }
    }

    /// A widget: it reads the properties once and follows the changes.
    @MainActor
    private final class Widget {
        let slideshow: SlideshowClient
        let shown = Observed(Shown())
        let isTorn = Observed(false)
        private var subscription: SignalSubscription?

        init() async throws {
            slideshow = try TestClient().service.slideshow
            subscription = try await slideshow.watch { [shown, isTorn] changes in
                shown.update { shown in
                    if !shown.adopt(changes) { isTorn.update { $0 = true } }
                }
            }
            let properties = try await slideshow.properties()
            shown.update { _ = $0.adopt(properties.properties) }
        }

        func waits(for id: String) async throws {
            try await shown.wait { $0.id == id ? true : nil }
        }
    }

    /// Starts a daemon with three photos of a local user, and returns the IDs of the photos, newest first.
    private func start() async throws -> (RunningDaemon, ids: [String]) {
        let (daemon, client, account) = try await startWithUser(["a", "b", "c"])
        try await client.service.slideshow.setImageSize("full")
        return (daemon, try await account.ids().map { "local_ada/\($0)" })
    }

    @Test func `all clients see the same photo, and each step changes it for all`() async throws {
        let ids = try await start().ids
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
    }

    @Test func `photos that an earlier version hid stay hidden after a move`() async throws {
        let (first, ids) = try await start()
        try await TestClient().service.slideshow.hide(ids[1])
        try await first.stop()
        let directory = try PrivateBus.current.directory
        let marks = try Disk.database()
        // The other photos have the same content.
        try (Pictures.png + Data([1])).write(
            to: URL(filePath: directory.appending("\(Pictures.home)/b.png")))
        // Earlier versions stored hidden photos only with the slideshow.
        try marks.execute("DELETE FROM mark; DELETE FROM marked")
        let second = try await RunningDaemon()
        try await poll {
            try marks.first("SELECT 1 FROM mark WHERE kind = 'hidden'") { _ in true } == true
        }
        try await second.stop()
        let folder = directory.appending(Pictures.home)
        try FileManager.default.createDirectory(
            atPath: "\(folder)/Moved", withIntermediateDirectories: false)
        try FileManager.default.moveItem(
            atPath: "\(folder)/b.png", toPath: "\(folder)/Moved/c.png")
        try FileManager.default.removeItem(atPath: directory.appending("home/.cache/imagefeed"))
        let (_, client) = try await startDaemon()
        let ada = client.account("local_ada")
        try await client.waitUntilReady(ada)
        #expect(try await ada.ids("album:Moved", count: 1).map { "local_ada/\($0)" } == [ids[1]])
        #expect(try await client.service.slideshow.properties().hidden == [ids[1]])
    }

    @Test func `the photo and its history survive a kill`() async throws {
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
        _ = try await RunningDaemon()
        let after = try await control.properties()
        #expect(after.photo != nil && after.photo == before.photo)
        for name in ["Image", "Paused", "Interval", "Shuffle", "Source", "Hidden", "CanGoPrevious"]
        {
            #expect(after.properties[name] == before.properties[name], "\(name)")
        }
        #expect(after.hidden == [ids[1]])
        let shown = after.photo?.id ?? ""
        try await control.previous()
        let previous = try await control.properties().photo?.id ?? ""
        #expect(Set([shown, previous, ids[1]]) == Set(ids))
        await expectError(.notFound) { try await control.previous() }
    }

    @Test func `slideshows have their own settings and common hidden photos`() async throws {
        let (daemon, ids) = try await start()
        let client = try TestClient()
        let service = client.service
        for name in ["", "Kitchen", "a-b", String(repeating: "a", count: 33)] {
            await expectError(.invalidArgs) { _ = try await service.openSlideshow(name) }
        }
        let path = try await service.openSlideshow("kitchen")
        #expect(path == ServiceName.slideshow.appending("kitchen"))
        #expect(try await service.openSlideshow("kitchen") == path)
        let (main, kitchen) = (client.service.slideshow, client.service.slideshow(path))
        try await kitchen.setInterval(60)
        try await kitchen.show(ids[1])
        try await main.show(ids[0])
        #expect(try await kitchen.properties().photo?.id == ids[1])
        #expect(try await main.properties().interval == 1800)
        // The photo that one slideshow hides leaves the others, too.
        try await main.hide(ids[1])
        try await poll {
            let properties = try await kitchen.properties()
            return properties.hidden == [ids[1]]
                && properties.photo?.id != ids[1]
        }
        try await daemon.stop()
        _ = try await RunningDaemon()
        #expect(try await kitchen.properties().interval == 60)
        #expect(try await kitchen.properties().hidden == [ids[1]])
        await expectError(.notSupported) { try await main.remove() }
        try await kitchen.remove()
        await expectError(.unknownObject) { _ = try await kitchen.properties() }
        for number in 0..<16 { _ = try await service.openSlideshow("s\(number)") }
        await expectError(.limitsExceeded) { _ = try await service.openSlideshow("more") }
    }

    @Test func `files in the runtime folder describe each current photo`() async throws {
        let ids = try await start().ids
        let client = try TestClient()
        let directory = try PrivateBus.current.directory
        let folder = directory.appending("run/imagefeed")
        let path = try await client.service.openSlideshow("kitchen")
        for (name, slideshow, id) in [
            ("current", client.service.slideshow, ids[0]),
            ("current-kitchen", client.service.slideshow(path), ids[1]),
        ] {
            #expect(!directory.has("run/imagefeed/\(name).json"))
            try await slideshow.show(id)
            let image = try await slideshow.properties().image
            let target = try FileManager.default.destinationOfSymbolicLink(
                atPath: "\(folder)/\(name)")
            #expect(target == image)
            let document = try String(contentsOfFile: "\(folder)/\(name).json", encoding: .utf8)
            #expect(document.contains("\"id\":\"\(id)\""))
            #expect(document.contains("\"image\":\"\(image)\""))
            let title = name == "current" ? "" : "kitchen"
            #expect(document.contains("\"slideshow\":\"\(title)\""))
        }
        try await client.service.slideshow(path).remove()
        #expect(!directory.has("run/imagefeed/current-kitchen.json"))
        #expect(directory.has("run/imagefeed/current.json"))
    }

    @Test func `the command line uses and removes slideshows with names`() async throws {
        let ids = try await start().ids
        func run(_ line: String, _ status: Int32 = 0) async throws -> String {
            let words = line.split(separator: " ").map(String.init)
            let (exit, output, error) = try await Terminal.start(["slideshow"] + words).result()
            #expect(exit == .code(status), "\(line): \(error)")
            return output
        }
        _ = try await run("set --name frame --source combined:likes --source local_ada:all")
        _ = try await run("set --name frame --orientation landscape --interval 1h")
        _ = try await run("show \(ids[1]) --name frame")
        let state = try await run("--name frame")
        for line in [
            "Photo\t\(ids[1])", "Interval\t1h", "Source\tcombined:likes", "Source\tlocal_ada:all",
            "Orientation\tlandscape",
        ] { #expect(state.contains("\(line)\n"), "\(state)") }
        #expect(
            try await run("list")
                == "(default)\tcombined\t\nframe\tcombined:likes, local_ada:all\tb\n")
        #expect(try await run("list --json").contains("\"Name\":\"frame\""))
        _ = try await run("remove --name nothing", 1)
        _ = try await run("remove", 64)
        _ = try await run("next --name Frame", 64)
        _ = try await run("remove --name frame")
        #expect(try await run("list") == "(default)\tcombined\t\n")
    }
}
