internal import BusAPI
internal import DBus
internal import Engine
internal import ProviderKit
internal import Quoting

/// The D-Bus object of the slideshow.
final class SlideshowObject {
    let exported = ExportedObject(ServiceName.slideshow)
    private let engine: Engine
    private let connection: BusConnection
    /// The subscription to the disconnection of each attached client; nil while it is being created.
    private var clients: [BusName: SignalSubscription?] = [:]
    private var slideshow: Slideshow { engine.slideshow }

    /// Exports the slideshow.
    ///
    /// - Parameters:
    ///   - engine: The engine that has the slideshow.
    ///   - connection: The connection to the bus of the clients.
    init(_ engine: Engine, _ connection: BusConnection) {
        self.engine = engine
        self.connection = connection
        exported.add(Self.interface, on: self)
        engine.slideshow.onChange = { [weak exported] in exported?.announceChanges() }
    }

    private static let interface = BusInterface<SlideshowObject>(
        versioned: .slideshow,
        [
            .asyncMethod("Next") { try await $0.slideshow.next() },
            .asyncMethod("Previous") { try await $0.slideshow.previous() },
            .asyncMethod("Show", in: ["photo"]) { (object: SlideshowObject, photo: String) in
                try await object.slideshow.show(photo)
            },
            .asyncMethod("Hide", in: ["photo"]) { (object: SlideshowObject, photo: String) in
                try await object.slideshow.hide(photo)
            },
            .asyncMethod("Unhide", in: ["photo"]) { (object: SlideshowObject, photo: String) in
                try await object.slideshow.unhide(photo)
            },
            .asyncCallerMethod("Attach") { (object: SlideshowObject, caller) in
                try await object.attach(caller)
            },
            .asyncCallerMethod("Detach") { (object: SlideshowObject, caller) in
                try await object.detach(caller)
            },
            .property("Photo") { $0.photo },
            .property("Image") { $0.slideshow.image },
            .property("Paused", { $0.slideshow.settings.isPaused }) {
                try await $0.slideshow.setPaused($1)
            },
            .property("Interval", { $0.slideshow.settings.intervalSeconds }) {
                try await $0.slideshow.setInterval(seconds: $1)
            },
            .property("Shuffle", { $0.slideshow.settings.isShuffled }) {
                try await $0.slideshow.setShuffled($1)
            },
            .property("Source", { $0.source }) { try await $0.setSource($1) },
            .property("ImageSize", { $0.slideshow.settings.imageSize.rawValue }) {
                try await $0.slideshow.setImageSize($1)
            },
            .property("CanGoNext") { $0.slideshow.canGoNext },
            .property("CanGoPrevious") { $0.slideshow.canGoPrevious },
            .property("Hidden") { $0.slideshow.hidden.map(\.text) },
        ])

    private var photo: SlideshowPhotoEntry {
        guard let (id, photo) = slideshow.photo else { return SlideshowPhotoEntry(entry: nil) }
        var named = photo
        named.id = PhotoID(id.text)
        return SlideshowPhotoEntry(
            entry: PhotoEntry(named, account: ServiceName.accounts.appending(id.account.text)))
    }

    // MARK: Source

    /// The object path of the account or of the combined account, and the ID of the source.
    private var source: BusStruct<ObjectPath, String> {
        let source = slideshow.settings.source
        let path = source.account.map { ServiceName.accounts.appending($0.text) }
        return BusStruct(path ?? ServiceName.combined, source.source.text)
    }

    private func setSource(_ value: BusStruct<ObjectPath, String>) async throws {
        let (path, source) = value.elements
        var account: AccountID?
        if path != ServiceName.combined {
            guard let known = engine.accounts.all.first(where: { $0.path == path }) else {
                throw EngineError.notFound("There is no account \(path.text.excerpt).")
            }
            account = known.id
        }
        try await slideshow.setSource(
            SlideshowSource(account: account, source: SourceID(source)))
    }

    // MARK: Clients

    private func attach(_ client: BusName?) async throws {
        // Without a bus, no disconnection of a client can be detected.
        guard let client else { return }
        if clients[client] == nil {
            clients[client] = .some(nil)
            await follow(client)
        }
        // The client may have disconnected meanwhile.
        if clients[client] != nil { try await slideshow.attach(client.text) }
    }

    private func detach(_ client: BusName?) async throws {
        guard let client else { return }
        clients[client] = nil
        try await slideshow.detach(client.text)
    }

    /// Subscribes to the disconnection of the client from the bus.
    private func follow(_ client: BusName) async {
        do {
            let subscription = try await connection.watchOwner(of: client) { [weak self] owner in
                if owner == nil { self?.remove(client) }
            }
            guard clients[client] != nil else { return }
            clients[client] = subscription
            // The client may have disconnected before the match rule was added.
            if try await connection.owner(of: client) == nil { remove(client) }
        } catch {
            // Without a bus connection there are no clients.
            remove(client)
        }
    }

    private func remove(_ client: BusName) {
        clients[client] = nil
        // Detaching stores nothing, so it does not fail.
        Task { try? await slideshow.detach(client.text) }
    }
}

/// The current photo in its D-Bus form; an empty dictionary if there is none.
nonisolated struct SlideshowPhotoEntry: BusType {
    static let signature = PhotoEntry.signature
    static let alignment = PhotoEntry.alignment

    let entry: PhotoEntry?

    init(entry: PhotoEntry?) { self.entry = entry }

    init(from decoder: inout Decoder) throws(BusError) {
        throw .invalidValue("photos are only sent")
    }

    func encode(into encoder: inout Encoder) throws(BusError) {
        if let entry { return try entry.encode(into: &encoder) }
        let start = encoder.beginArray(alignment: 8)
        try encoder.endArray(start)
    }
}
