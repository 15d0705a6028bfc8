internal import Accounts
internal import Dispatch
internal import Images
internal import Logging
internal import ProviderKit
internal import Quoting
internal import Services
package import Slideshow
internal import System
internal import Translation

/// All slideshows: the default one, and those that clients created with a name.
///
/// Hidden photos are common to all; each store has a copy of the list.
package final class Slideshows {
    package typealias Stored = (store: SlideshowStore, contents: SlideshowStore.Contents)

    /// The maximum number of slideshows besides the default one.
    package static let maximumCount = 16

    /// Called when a slideshow needs its timer; see ``Slideshow/onAttach``.
    package var onAttach: () -> Void = {} {
        didSet { for slideshow in all { slideshow.onAttach = onAttach } }
    }

    private unowned let engine: Engine
    private let open: @Sendable (String) throws -> Stored
    private let opening = ChangeQueue()
    private let queue = DispatchQueue(label: "slideshows")
    private var named: [String: Slideshow] = [:]
    private var pins: [String: Set<String>] = [:]
    private var marks: [PhotoMark: [String: Set<CombinedPhotoID>]] = [:]
    private let marking = ChangeQueue()
    /// The default slideshow.
    package let main: Slideshow

    /// - Parameters:
    ///   - engine: The engine.
    ///   - stored: The stores by the names of their slideshows. The default one has an empty name.
    ///   - open: Creates the store of a new slideshow. It is called on another thread.
    init(
        _ engine: Engine, _ stored: [String: Stored],
        open: @escaping @Sendable (String) throws -> Stored
    ) {
        self.engine = engine
        self.open = open
        let contents = stored[""] ?? (.inMemory(), SlideshowStore.Contents())
        main = Self.make("", contents, engine)
        for (name, stored) in stored where !name.isEmpty {
            named[name] = Self.make(name, stored, engine)
        }
    }

    private static func make(_ name: String, _ stored: Stored, _ engine: Engine) -> Slideshow {
        Slideshow(
            stored.store, stored.contents, EngineSlideshowPhotos(engine, for: name), name: name,
            clock: engine.ports.clock, logger: engine.ports.logger)
    }

    /// All slideshows, the default one first, the others by name.
    package var all: [Slideshow] { [main] + named.values.sorted { $0.name < $1.name } }

    // MARK: Creation and removal

    /// Returns the slideshow with a name, which is created if necessary.
    ///
    /// - Throws: ``EngineError/invalidArgument(_:)`` for another name; ``EngineError/tooManySlideshows``; ``StorageError``.
    package func open(_ name: String) async throws -> Slideshow {
        guard SlideshowStore.isValid(name) else {
            throw EngineError.invalidArgument(
                "The name of a slideshow has 1 to 32 characters of a to z, 0 to 9 and _, unlike \(name.quoted)."
            )
        }
        return try await opening.run {
            if let known = named[name] { return known }
            guard named.count < Self.maximumCount else { throw EngineError.tooManySlideshows }
            let stored = try await queue.run { [open] in try open(name) }
            let slideshow = Self.make(name, stored, engine)
            slideshow.onAttach = onAttach
            named[name] = slideshow
            engine.addObserver(slideshow)
            slideshow.start()
            await adoptHidden(slideshow)
            engine.emit(.slideshowAdded(slideshow))
            return slideshow
        }
    }

    /// Deletes a slideshow with its settings and its history.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for the default one.
    package func remove(_ slideshow: Slideshow) async throws {
        let name = slideshow.name
        guard !name.isEmpty else {
            throw EngineError.notSupported(
                Message(verbatim: "The default slideshow cannot be removed."))
        }
        await opening.run {
            guard named[name] === slideshow else { return }
            named[name] = nil
            engine.removeObserver(slideshow)
            slideshow.stop()
            await slideshow.store.delete()
            _ = await pin([], for: name)
            mark([], .current, for: name)
            mark([], .hidden, for: name)
            engine.emit(.slideshowRemoved(slideshow))
        }
    }

    /// Checks the current photos after the accounts have started.
    func start() {
        for slideshow in all { slideshow.start() }
        for slideshow in named.values { Task { await adoptHidden(slideshow) } }
    }

    /// Stops all slideshows and closes their stores. Blocks until all data is written.
    func stop() {
        for slideshow in all {
            slideshow.stop()
            slideshow.store.close()
        }
    }

    // MARK: Hidden photos

    /// Excludes a photo from all slideshows.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo in the combined account.
    ///   - slideshow: The slideshow that a client called, which may have shown the photo.
    /// - Throws: See ``Slideshow/hide(_:)``.
    package func hide(_ photo: String, in slideshow: Slideshow) async throws {
        guard let id = try await slideshow.hide(photo) else { return }
        for other in all where other !== slideshow { try await other.hide(id) }
    }

    /// Includes a hidden photo again.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if the photo is not hidden.
    package func unhide(_ photo: String, in slideshow: Slideshow) async throws {
        try await slideshow.unhide(photo)
        for other in all where other.hidden.contains(where: { $0.text == photo }) {
            try await other.unhide(photo)
        }
    }

    /// Makes the hidden photos of a slideshow those of the default one.
    private func adoptHidden(_ slideshow: Slideshow) async {
        let wanted = main.hidden
        guard slideshow.hidden != wanted else { return }
        await slideshow.logging {
            for id in wanted where !slideshow.hidden.contains(id) { try await slideshow.hide(id) }
            for id in slideshow.hidden where !wanted.contains(id) {
                try await slideshow.unhide(id.text)
            }
        }
    }

    // MARK: Images and IDs that are needed

    /// Protects the images that a slideshow needs from being evicted; see ``SlideshowPhotos/pin(_:)``.
    func pin(_ images: Set<String>, for name: String) async -> Set<String> {
        pins[name] = images
        return await engine.stores.images.pin(Set(pins.values.joined())).intersection(images)
    }

    /// Keeps the IDs of photos for a slideshow; see ``SlideshowPhotos/mark(_:_:)``.
    func mark(_ photos: Set<CombinedPhotoID>, _ mark: PhotoMark, for name: String) {
        marks[mark, default: [:]][name] = photos
        let all = Set(marks[mark, default: [:]].values.joined())
        Task { [weak engine] in
            await marking.run {
                for account in engine?.accounts.all ?? [] {
                    let ids = all.filter { $0.account == account.id }.map(\.photo)
                    do {
                        try await account.photos?.setMarked(Set(ids), mark)
                    } catch {
                        engine?.ports.logger.notice(
                            "The IDs of photos of the slideshow cannot be kept",
                            metadata: ["reason": "\(error)"])
                    }
                }
            }
        }
    }
}
