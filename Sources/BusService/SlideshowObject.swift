internal import Contract
internal import DBus
internal import EngineCore
internal import EngineModel
internal import ProviderKit
internal import SlideshowCore

/// The D-Bus object of a slideshow.
final class SlideshowObject {
    let exported: ExportedObject
    private let slideshow: Slideshow
    private let engine: Engine
    private let files: SlideshowFiles?
    /// The attached clients.
    private let clients: FollowedClients

    /// Exports a slideshow.
    ///
    /// - Parameters:
    ///   - slideshow: The slideshow.
    ///   - engine: The engine that has the slideshow.
    ///   - connection: The connection to the bus of the clients.
    ///   - folder: The folder for files with the current photo; nil for no files.
    init(_ slideshow: Slideshow, _ engine: Engine, _ connection: BusConnection, folder: String?) {
        self.slideshow = slideshow
        self.engine = engine
        clients = FollowedClients(connection) { client in
            // Detaching stores nothing, so it does not fail.
            Task { try? await slideshow.detach(client.text) }
        }
        exported = ExportedObject(slideshow.path)
        files = folder.map {
            SlideshowFiles(folder: $0, name: slideshow.name, logger: slideshow.logger)
        }
        exported.add(Self.interface, on: self)
        slideshow.onChange = { [weak self] in self?.changed() }
        updateFiles()
    }

    private func changed() {
        updateFiles()
        exported.announceChanges()
    }

    private func updateFiles() { files?.update(photo, image: slideshow.image) }

    /// Deletes the files with the current photo, because the slideshow was removed.
    func removeFiles() { files?.update(nil, image: "") }

    private static let interface = BusInterface<SlideshowObject>(
        versioned: .slideshow,
        [
            .asyncMethod(.next) { try await $0.slideshow.next() },
            .asyncMethod(.previous) { try await $0.slideshow.previous() },
            .asyncMethod(.show, in: ["photo"]) { try await $0.slideshow.show($1) },
            .asyncMethod(.hide, in: ["photo"]) { try await $0.slideshow.hide($1) },
            .asyncMethod(.unhide, in: ["photo"]) { try await $0.slideshow.unhide($1) },
            .asyncMethod(.remove) { try await $0.engine.slideshows.remove($0.slideshow) },
            .asyncCallerMethod(.attach) { try await $0.attach($1) },
            .asyncCallerMethod(.detach) { try await $0.detach($1) },
            .property(.photo) { $0.photoValues },
            .property(.image) { $0.slideshow.image },
            .property(.paused, { $0.slideshow.settings.isPaused }) {
                try await $0.slideshow.setPaused($1)
            },
            .property(.interval, { $0.slideshow.settings.intervalSeconds }) {
                try await $0.slideshow.setInterval(seconds: $1)
            },
            .property(.shuffle, { $0.slideshow.settings.isShuffled }) {
                try await $0.slideshow.setShuffled($1)
            },
            .property(.source, { $0.sources[0] }) { try await $0.setSources([$1]) },
            .property(.sources, { $0.sources }) { try await $0.setSources($1) },
            .property(.orientation, { $0.slideshow.settings.orientation.rawValue }) {
                try await $0.slideshow.setOrientation($1)
            },
            .property(.imageSize, { $0.slideshow.settings.imageSize.rawValue }) {
                try await $0.slideshow.setImageSize($1)
            },
            .property(.canGoNext) { $0.slideshow.canGoNext },
            .property(.canGoPrevious) { $0.slideshow.canGoPrevious },
            .property(.hidden) { $0.slideshow.hidden.map(\.text) },
        ])

    /// The current photo, with its ID of the combined account; nil if there is none.
    private var photo: PhotoEntry? {
        guard let (id, photo) = slideshow.photo else { return nil }
        var named = photo
        named.id = PhotoID(id.text)
        return PhotoEntry(named, account: ServiceName.accounts.appending(id.account.text))
    }

    /// The D-Bus form of the current photo: an empty dictionary if there is none.
    private var photoValues: OrderedEntries<String, Variant> { OrderedEntries(photo?.values ?? []) }

    // MARK: Sources

    /// The object path of the account or of the combined account, and the ID of the source.
    private typealias SourceValue = BusStruct<ObjectPath, String>

    private var sources: [SourceValue] {
        slideshow.settings.sources.map { source in
            let path = source.account.map { ServiceName.accounts.appending($0.text) }
            return SourceValue(path ?? ServiceName.combined, source.source.text)
        }
    }

    private func setSources(_ values: [SourceValue]) async throws {
        try await slideshow.setSources(
            values.map { value in
                let (path, source) = value.elements
                guard path != ServiceName.combined else {
                    return SlideshowSource(account: nil, source: SourceID(source))
                }
                let account = try engine.account(at: path)
                return SlideshowSource(account: account.id, source: SourceID(source))
            })
    }

    // MARK: Clients

    private func attach(_ client: BusName?) async throws {
        // Without a bus, no disconnection of a client can be detected.
        guard let client else { return }
        await clients.add(client)
        // The client may have disconnected meanwhile.
        if clients.contains(client) { try await slideshow.attach(client.text) }
    }

    private func detach(_ client: BusName?) async throws {
        guard let client else { return }
        clients.remove(client)
        try await slideshow.detach(client.text)
    }
}
