package import EngineModel
package import ProviderKit

/// The photos of all accounts, as the slideshow uses them.
///
/// No function prompts the user to unlock the keyring.
package protocol SlideshowPhotos: AnyObject {
    /// Returns the sources of accounts that a source of the slideshow consists of, in the order of the accounts. Accounts
    /// that are logged out have none.
    func parts(of source: SlideshowSource) -> [SlideshowPart]

    /// Returns the part that belongs to an account; nil if the source does not contain the account.
    func part(of source: SlideshowSource, _ account: AccountID) -> SlideshowPart?

    /// Returns a page of a part.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - cursor: The result of the previous page; empty for the first page.
    ///   - count: The number of photos, 1 to 100.
    /// - Returns: The photos, and the cursor of the next page, which is empty at the end.
    /// - Throws: ``ProviderError/staleCursor``, and the errors of ``Account/page(_:cursor:count:)``.
    func page(
        of part: SlideshowPart, after cursor: String, count: Int
    ) async throws -> (photos: [Photo], next: String)

    /// Refreshes a part of a service. Returns when the refresh succeeded or failed.
    func refresh(_ part: SlideshowPart) async

    /// Returns the first photo of an orientation that follows a cursor in the order of the source.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - cursor: The result of the previous call; empty for the top.
    ///   - orientation: The orientation.
    /// - Returns: The photo; nil if there is none in the next page. The cursor is empty at the end.
    /// - Throws: ``ProviderError/staleCursor`` or ``ProviderError/invalidArgument(_:)`` for a position that was lost.
    func next(
        in source: SlideshowSource, after cursor: String, _ orientation: SlideshowOrientation
    ) async throws -> (photo: CombinedPhotoID?, next: String)

    /// Returns a photo.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - isCached: True to send no request.
    /// - Returns: The photo; nil if it is not cached and no request may be sent.
    /// - Throws: ``ProviderError/notFound(_:)`` or ``EngineError/notFound(_:)`` for an unknown photo or account;
    ///   ``EngineError/needsLogin(_:)``; the errors of the service.
    func photo(_ id: CombinedPhotoID, isCached: Bool) async throws -> Photo?

    /// Returns the path of an image.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - size: The size.
    ///   - isCached: True to send no request.
    /// - Returns: The path; nil if it is not cached and no request may be sent.
    /// - Throws: The errors of ``photo(_:isCached:)``.
    func image(_ id: CombinedPhotoID, _ size: ImageSize, isCached: Bool) async throws -> String?

    /// Calls `onLoss` when a file is deleted or replaced, instead of the file of the previous call; empty for none.
    func watchImage(_ path: String, onLoss: @escaping () -> Void)

    /// Keeps the IDs of the current photos and of the hidden ones, and no longer those of the previous call; see
    /// ``Slideshow/currentID`` and ``HiddenPhotos/ids``.
    func keepIDs()

    /// Returns true unless the account is known not to have the source.
    func exists(_ source: SlideshowSource) async -> Bool

    /// Protects images from being evicted, and no longer those of the previous call; see ``Slideshow/neededImages``. Calls
    /// have effect in their order.
    ///
    /// - Returns: The images that do not exist.
    func pin() async -> Set<String>

    /// Records that a playlist could not be stored because the disk is full.
    func recordFullDisk()

    /// Returns true if an account is known and logged in.
    func isLoggedIn(_ account: AccountID) -> Bool

    /// Returns true if the state of an account is `ready`.
    func isReady(_ account: AccountID) -> Bool

    /// True if the network is metered, so that only cached images are shown.
    var isMetered: Bool { get }

    /// Returns true if the photos of an account are on this computer.
    func isLocal(_ account: AccountID) -> Bool

    /// Returns true if images of an account may be fetched: the network is available and not metered.
    func mayFetch(_ account: AccountID) -> Bool

    /// Returns true if pages may be read that no client waits for.
    func mayReadAhead(_ part: SlideshowPart) -> Bool

    /// Watches the parts, and ends the watch of other parts.
    func watch(_ parts: [SlideshowPart])

    /// Throws ``EngineError/notFound(_:)``, ``ProviderError/notFound(_:)`` or ``EngineError/needsLogin(_:)`` unless the
    /// source exists.
    func check(_ source: SlideshowSource) async throws
}
