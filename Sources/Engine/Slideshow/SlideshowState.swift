package import Accounts
package import ProviderKit

/// The photo that is shown now, its image, the photos before and after it, and the settings.
///
/// This type only decides; ``Slideshow`` stores the result of a transition, then acts on it.
nonisolated struct SlideshowState: Hashable, Sendable {
    /// The maximum number of photos that ``past`` contains.
    static let historyLimit = 100

    /// A photo that is shown, or ready to be shown.
    struct Shown: Hashable, Sendable {
        let id: CombinedPhotoID
        var photo: Photo
        /// The path of the image.
        var image: String
    }

    var settings = SlideshowSettings()
    /// The index of the source whose photos are shown now.
    var sourceIndex = 0
    /// The photos that were shown before the current one, the latest last.
    private(set) var past: [CombinedPhotoID] = []
    private(set) var current: Shown?
    /// The photos that follow after the current one, because the user went back.
    private(set) var future: [CombinedPhotoID] = []
    /// The hidden photos, in the order in which they were hidden.
    private(set) var hidden: [CombinedPhotoID] = []
    private var hiddenSet: Set<CombinedPhotoID> = []
    /// The position after the last photo of a source that another one follows.
    static let end = "end"

    /// The position in the order of the source, after the last photo that was shown from it; empty for the top.
    var cursor = ""
    /// The clients that are attached, by their unique bus names. They are not stored.
    var clients: Set<String> = []
    /// The changes of known photos that are stored together with the state.
    private var changes: [SlideshowTables.Change] = []

    init() {}

    /// Creates the state from its stored parts.
    init(
        _ settings: SlideshowSettings, past: [CombinedPhotoID], current: Shown?,
        future: [CombinedPhotoID], hidden: [CombinedPhotoID], sourceIndex: Int, cursor: String
    ) {
        self.settings = settings
        self.sourceIndex = sourceIndex
        self.past = past
        self.current = current
        self.future = future
        self.hidden = hidden
        hiddenSet = Set(hidden)
        self.cursor = cursor
    }

    func isHidden(_ id: CombinedPhotoID) -> Bool { hiddenSet.contains(id) }

    /// The interval of the timer; nil if it must not run.
    var timerInterval: Duration? {
        guard isActive, settings.intervalSeconds > 0 else { return nil }
        return .seconds(settings.intervalSeconds)
    }

    /// True if the next photo is prepared before a client requests it.
    var isActive: Bool { !clients.isEmpty && !settings.isPaused }

    /// The state without the clients, which are not stored.
    var durable: SlideshowState {
        var state = self
        state.clients = []
        return state
    }

    /// The accounts of all photos of the history.
    var accounts: Set<AccountID> {
        Set((past + future + [current?.id].compactMap(\.self)).map(\.account))
    }

    /// Returns the changes of known photos since the last call.
    mutating func takeChanges() -> [SlideshowTables.Change] {
        defer { changes = [] }
        return changes
    }

    // MARK: Navigation

    /// Shows a photo that follows the history, or one that a client selects. Empties ``future``.
    mutating func show(_ shown: Shown) {
        if let current, current.id != shown.id { past.append(current.id) }
        future = []
        makeCurrent(shown)
    }

    /// Shows the next photo of the order. Photos of ``future``, which could not be shown, count as shown.
    mutating func advance(to shown: Shown) {
        if let current, !future.isEmpty || current.id != shown.id { past.append(current.id) }
        past += future
        future = []
        makeCurrent(shown)
    }

    /// Shows a photo of ``future``. The photos before it could not be shown; they count as shown.
    ///
    /// - Returns: False if the photo is no longer there. The state is unchanged then.
    mutating func goForward(to shown: Shown) -> Bool {
        guard let index = future.firstIndex(of: shown.id) else { return false }
        if let current { past.append(current.id) }
        past += future[..<index]
        future.removeSubrange(...index)
        makeCurrent(shown)
        return true
    }

    /// Shows a photo of ``past``. The photos after it could not be shown; they are moved to ``future``.
    ///
    /// - Returns: False if the photo is no longer there. The state is unchanged then.
    mutating func goBack(to shown: Shown) -> Bool {
        guard let index = past.lastIndex(of: shown.id) else { return false }
        future = past[(index + 1)...] + [current?.id].compactMap(\.self) + future
        past.removeSubrange(index...)
        makeCurrent(shown)
        return true
    }

    private mutating func makeCurrent(_ shown: Shown) {
        current = shown
        past.removeFirst(max(0, past.count - Self.historyLimit))
        changes.append(.shown(shown.id))
    }

    /// Skips a photo in this round. One that no longer exists is removed, unless it is shown.
    mutating func skip(_ id: CombinedPhotoID, isGone: Bool) {
        if isGone, current?.id != id { remove { $0 == id } }
        changes.append(isGone ? .removed([id]) : .shown(id))
    }

    /// Continues at the top of a source.
    mutating func begin(_ source: Int) {
        sourceIndex = source
        cursor = ""
        changes.append(.clear)
    }

    // MARK: Changes of photos

    /// Replaces the description of the current photo.
    mutating func update(_ photo: Photo, of id: CombinedPhotoID) {
        if current?.id == id { current?.photo = photo }
    }

    /// Replaces the image of the current photo by another one of the same photo.
    mutating func replaceImage(_ shown: Shown?) {
        if let shown, current?.id == shown.id { current?.image = shown.image }
    }

    /// Removes photos from the history. If the current photo is one of them, there is no current photo then.
    private mutating func remove(where isRemoved: (CombinedPhotoID) -> Bool) {
        past.removeAll(where: isRemoved)
        future.removeAll(where: isRemoved)
        if let id = current?.id, isRemoved(id) { current = nil }
    }

    /// Removes photos that no longer exist.
    mutating func remove(_ ids: Set<CombinedPhotoID>) {
        remove(where: ids.contains)
        changes.append(.removed(ids))
    }

    /// Removes the photos of accounts that logged out.
    mutating func logOut(_ accounts: Set<AccountID>) {
        remove { accounts.contains($0.account) }
        changes += accounts.map { .forget($0) }
    }

    /// Excludes a photo, and removes it from the history. If it was the current photo, there is no current photo then.
    mutating func hide(_ id: CombinedPhotoID) {
        if hiddenSet.insert(id).inserted { hidden.append(id) }
        remove { $0 == id }
    }

    /// Includes a hidden photo again.
    ///
    /// - Returns: False if the photo is not hidden.
    mutating func unhide(_ id: CombinedPhotoID) -> Bool {
        guard hiddenSet.remove(id) != nil else { return false }
        hidden.removeAll { $0 == id }
        return true
    }

    /// Deletes all data about an account that was removed.
    mutating func forget(_ account: AccountID) {
        let isSource = settings.hasSource(of: account)
        logOut([account])
        hidden.removeAll { $0.account == account }
        hiddenSet = Set(hidden)
        guard isSource else { return }
        settings.sources.removeAll { $0.account == account }
        if settings.sources.isEmpty { settings.sources = [.initial] }
        begin(0)
    }
}

/// The settings of the slideshow, which clients change.
nonisolated package struct SlideshowSettings: Hashable, Sendable {
    /// The shortest time for which a photo is shown, in seconds.
    static let shortestIntervalSeconds: UInt32 = 5
    package static let maximumSources = 8

    /// True if the timer is stopped.
    package var isPaused = false
    /// The time for which each photo is shown, in seconds; 0 for no timer.
    package var intervalSeconds: UInt32 = 1800
    /// True for a random order, false for the order of the source.
    package var isShuffled = false
    /// The sources, which follow one another: 1 to ``maximumSources``, none twice.
    package var sources = [SlideshowSource.initial]
    package var orientation = SlideshowOrientation.any
    package var imageSize = ImageSize.regular

    /// Returns true if one of the sources is of this account only.
    func hasSource(of account: AccountID) -> Bool { sources.contains { $0.account == account } }
}

/// The photos that are shown, by their form.
nonisolated package enum SlideshowOrientation: String, CaseIterable, Sendable {
    case any
    /// At least as wide as high.
    case landscape
    /// Higher than wide.
    case portrait

    /// Returns true for a photo that is shown. A photo of unknown size is shown with ``any`` only.
    package func accepts(_ photo: Photo) -> Bool {
        guard self != .any else { return true }
        guard let width = photo.width, let height = photo.height else { return false }
        return (width >= height) == (self == .landscape)
    }
}

/// A source of the slideshow.
nonisolated package struct SlideshowSource: Hashable, Sendable {
    /// The account; nil for the combined account.
    package let account: AccountID?
    /// The source of the account; empty for its default source.
    package let source: SourceID

    package init(account: AccountID?, source: SourceID) {
        self.account = account
        self.source = source
    }

    /// The default source of the combined account.
    static let initial = SlideshowSource(account: nil, source: SourceID(""))
}

/// A source of one account that the source of the slideshow consists of.
nonisolated package struct SlideshowPart: Hashable, Sendable {
    package let account: AccountID
    package let source: SourceID
    /// True if the photos and their order are on this computer, so that reading pages costs little.
    package let isLocal: Bool
    /// True if photos leave the source without being removed, such as the liked photos.
    let isSelection: Bool

    package init(account: AccountID, source: SourceID, isLocal: Bool, isSelection: Bool) {
        self.account = account
        self.source = source
        self.isLocal = isLocal
        self.isSelection = isSelection
    }
}
