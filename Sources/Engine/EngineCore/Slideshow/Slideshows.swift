internal import EngineModel
internal import Images
internal import Logging
internal import ProviderKit
internal import Quoting
internal import Services
package import SlideshowCore
internal import System
internal import Translation

/// All slideshows: the default one, and those that clients created with a name.
package final class Slideshows {
    /// The maximum number of slideshows besides the default one.
    package static let maximumCount = 16

    /// Called when a slideshow needs its timer; see ``Slideshow/onAttach``.
    package var onAttach: () -> Void = {} {
        didSet { for slideshow in all { slideshow.onAttach = onAttach } }
    }

    private unowned let engine: Engine
    private let store: SlideshowStore
    private let hidden: HiddenPhotos
    private let opening = ChangeQueue()
    private let marking = ChangeQueue()
    /// The slideshows by their names; the default one has an empty name.
    private var byName: [String: Slideshow] = [:]

    /// - Parameters:
    ///   - engine: The engine.
    ///   - store: The store.
    ///   - contents: The contents of the store.
    init(_ engine: Engine, _ store: SlideshowStore, _ contents: SlideshowStore.Contents) {
        self.engine = engine
        self.store = store
        hidden = HiddenPhotos(store, contents)
        for name in [""] + contents.names { byName[name] = make(name, contents) }
        hidden.slideshows = { [unowned self] in all }
    }

    private func make(_ name: String, _ contents: SlideshowStore.Contents) -> Slideshow {
        Slideshow(
            name, store, contents, hidden, EngineSlideshowPhotos(engine, for: name),
            clock: engine.ports.clock, logger: engine.ports.logger)
    }

    /// All slideshows, the default one first, the others by name.
    package var all: [Slideshow] { byName.values.sorted { $0.name < $1.name } }

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
            if let known = byName[name] { return known }
            guard byName.count <= Self.maximumCount else { throw EngineError.tooManySlideshows }
            try await store.save(SlideshowSettings(), of: name)
            let slideshow = make(name, SlideshowStore.Contents())
            slideshow.onAttach = onAttach
            byName[name] = slideshow
            engine.addObserver(slideshow)
            slideshow.start()
            engine.emit(.slideshowAdded(slideshow))
            return slideshow
        }
    }

    /// Deletes a slideshow with its settings and its history.
    ///
    /// - Throws: ``EngineError/notSupported(_:)`` for the default one; ``StorageError``.
    package func remove(_ slideshow: Slideshow) async throws {
        let name = slideshow.name
        guard !name.isEmpty else {
            throw EngineError.notSupported(
                Message(verbatim: "The default slideshow cannot be removed."))
        }
        try await opening.run {
            guard byName[name] === slideshow else { return }
            try await slideshow.delete()
            byName[name] = nil
            engine.removeObserver(slideshow)
            _ = await pin()
            keepIDs()
            engine.emit(.slideshowRemoved(slideshow))
        }
    }

    /// Checks the current photos after the accounts have started.
    func start() {
        for slideshow in all { slideshow.start() }
        keepIDs()
    }

    /// Stops all slideshows.
    func stop() {
        for slideshow in all { slideshow.stop() }
    }

    // MARK: Accounts that leave

    /// Deletes the photos of an account that logged out.
    func logOut(_ account: AccountID) async {
        await forEach { await $0.logOut([account]) }
        await store.scrubPlaylists(account)
    }

    /// Deletes all data about an account that was removed.
    func forget(_ account: AccountID) async {
        await hidden.forget(account)
        await forEach { await $0.accountRemoved(account) }
        await store.scrubPlaylists(account)
    }

    /// Changes all slideshows at the same time, because each one may wait for its next photo.
    private func forEach(_ change: @escaping @MainActor (Slideshow) async -> Void) async {
        let tasks = all.map { slideshow in Task { await change(slideshow) } }
        for task in tasks { await task.value }
    }

    // MARK: Images and IDs that are needed

    /// Protects the images that slideshows need from being evicted; see ``SlideshowPhotos/pin()``.
    func pin() async -> Set<String> {
        await engine.stores.images.pin(Set(all.flatMap(\.neededImages)))
    }

    /// Keeps the IDs of photos of slideshows; see ``SlideshowPhotos/keepIDs()``.
    func keepIDs() {
        Task { [weak engine, weak self] in
            await self?.marking.run {
                for account in engine?.accounts.all ?? [] { await self?.keepIDs(of: account) }
            }
        }
    }

    private func keepIDs(of account: Account) async {
        func ids(_ photos: [CombinedPhotoID]) -> Set<PhotoID> {
            Set(photos.lazy.filter { $0.account == account.id }.map(\.photo))
        }
        do {
            try await account.photos?.setMarked(ids(hidden.ids), .hidden)
            try await account.photos?.setMarked(ids(all.compactMap(\.currentID)), .current)
        } catch {
            engine.ports.logger.notice(
                "The IDs of photos of the slideshow cannot be kept",
                metadata: ["reason": "\(error)"])
        }
    }
}

extension Slideshow: EngineObserver {
    package func handle(_ event: EngineEvent) {
        switch event {
        case .changed: conditionsChanged()
        case .accountAdded: accountsChanged()
        case .account(let account, let event): handle(event, of: account.id)
        // A removed account is forgotten by `Slideshows.forget(_:)` before.
        default: break
        }
    }
}
