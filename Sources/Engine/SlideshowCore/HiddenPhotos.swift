package import EngineModel
internal import ProviderKit
internal import Quoting
internal import Storage
internal import System

/// The photos that are excluded from all slideshows.
package final class HiddenPhotos {
    /// The photos, in the order in which they were hidden.
    package private(set) var ids: [CombinedPhotoID]
    private var known: Set<CombinedPhotoID>
    /// The highest number that a hidden photo has had. A playlist has the number up to which hidden photos have left it, so
    /// that the end of the process between both changes brings no photo back.
    private(set) var lastNumber: Int64
    /// Returns the slideshows, which hidden photos leave.
    package var slideshows: () -> [Slideshow] = { [] }
    private let store: SlideshowStore
    private let changes = ChangeQueue()

    /// - Parameters:
    ///   - store: The store.
    ///   - contents: The contents of the store.
    package init(_ store: SlideshowStore, _ contents: SlideshowStore.Contents) {
        self.store = store
        ids = contents.hidden.map(\.id)
        known = Set(ids)
        lastNumber =
            (contents.hidden.map(\.number) + contents.playlists.values.map(\.hideNumber)).max() ?? 0
    }

    func contains(_ id: CombinedPhotoID) -> Bool { known.contains(id) }

    /// Checks that no other file, which may have other hidden photos, is in place of the store's.
    ///
    /// - Throws: ``StorageError``.
    func checkStore() async throws { try await store.check() }

    /// Excludes a photo.
    ///
    /// - Returns: The number of the photo; nil if it was hidden before.
    /// - Throws: ``StorageError``. Nothing is changed then.
    func hide(_ id: CombinedPhotoID) async throws -> Int64? {
        try await changes.run {
            guard !known.contains(id) else { return nil }
            let number = lastNumber + 1
            try await store.change { (tables) throws(StorageError) in try tables.hide(id, number) }
            lastNumber = number
            ids.append(id)
            known.insert(id)
            return number
        }
    }

    /// Includes a hidden photo again.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if the photo is not hidden; ``StorageError``.
    func unhide(_ text: String) async throws {
        try await changes.run {
            guard let id = CombinedPhotoID(text), known.contains(id) else {
                throw EngineError.notFound("The photo \(text.quoted) is not hidden.")
            }
            try await store.change { (tables) throws(StorageError) in try tables.unhide(id) }
            remove { $0 == id }
        }
    }

    /// Forgets the hidden photos of an account that was removed.
    package func forget(_ account: AccountID) async {
        await changes.run {
            guard ids.contains(where: { $0.account == account }) else { return }
            // Those that were hidden after ``SlideshowStore/forget(_:in:)``.
            try? await store.change { (tables) throws(StorageError) in try tables.forget(account) }
            remove { $0.account == account }
        }
    }

    private func remove(where isRemoved: (CombinedPhotoID) -> Bool) {
        ids.removeAll(where: isRemoved)
        known = Set(ids)
    }
}
