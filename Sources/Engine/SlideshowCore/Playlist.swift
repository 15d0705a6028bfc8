internal import EngineModel
internal import ProviderKit

/// The photos of a slideshow in the order in which they are shown: the history, the current photo and the next ones.
///
/// Each shown photo has a position. The photos that were not shown yet are rows of ``PlaylistTables``, because there may
/// be hundreds of thousands; this type has the changes of these rows.
///
/// This type only decides; ``Slideshow`` stores the result of a transition, then acts on it.
nonisolated struct Playlist: Hashable, Sendable {
    /// The maximum number of photos of the history.
    static let historyLimit = 100

    /// A photo that is shown, or ready to be shown.
    struct Shown: Hashable, Sendable {
        let id: CombinedPhotoID
        var photo: Photo
        /// The path of the image.
        var image: String
    }

    /// A position with its photo.
    struct Entry: Hashable, Sendable {
        let position: Int64
        let id: CombinedPhotoID
    }

    /// The position up to which the photos of a part of the source were read.
    struct Part: Hashable, Sendable {
        /// See ``SlideshowPart/edition``.
        var edition: String
        /// The cursor of the next page; empty for the first one.
        var cursor = ""
        /// True if the last page of this pass was read.
        var hasEnded = false
        /// The number of times that reading began at the top.
        var pass: Int64 = 1
        /// The newest photo of the part when its top was last read, without shuffle.
        var top: PhotoID?

        /// Continues at the top.
        mutating func beginPass() {
            cursor = ""
            hasEnded = false
            pass += 1
        }
    }

    /// A change of the photos that were not shown yet. It is stored together with the playlist.
    enum Change: Hashable, Sendable {
        /// With shuffle, a photo was shown or is skipped: it waits for the next round.
        case taken(CombinedPhotoID, key: Int64)
        /// Without shuffle, the photos at some positions were shown or passed over.
        case passed([Int64])
        /// Photos were read. Unknown ones are added at the positions; nil for a photo of unknown size.
        case added(AccountID, [PhotoID], positions: [Int64?], pass: Int64)
        /// The sizes of photos became known. Those without a position get one.
        case sized(AccountID, [PhotoID], positions: [Int64?])
        /// A photo follows after all others, in the order of the source.
        case appended(CombinedPhotoID)
        /// New photos precede all others, in this order.
        case prepended([CombinedPhotoID])
        /// Photos no longer exist.
        case removed(Set<CombinedPhotoID>)
        /// The photos of an account that were not found in a pass left the source.
        case missed(AccountID, pass: Int64)
        /// The position in a part changed.
        case read(AccountID, Part)
        /// The account is no longer in the source, or has no photos any more.
        case left(AccountID)
        /// The walk through the source begins again, or continues in the next source.
        case walked
        /// The source or the order changed.
        case cleared
        /// All known photos were shown. Those that remain are moved to the next round.
        case roundBegan
    }

    var settings = SlideshowSettings()
    /// The photos that were shown: the history, the current one, and those after it because the user went back.
    private(set) var entries: [Entry] = []
    /// The position of the current photo, or of the last one if there is none.
    private(set) var position: Int64 = 0
    private(set) var current: Shown?
    /// The index of the source whose photos are read now.
    private(set) var sourceIndex = 0
    /// The position in the order of the source, after the last photo that was read; empty for the top, nil at the end.
    var cursor: String? = ""
    /// The number of the round: of the photos with shuffle, else of the walk through a source.
    private(set) var round: Int64 = 0
    /// The parts of the source that were read.
    private(set) var parts: [AccountID: Part] = [:]
    /// The number of the last hidden photo that left the playlist; see ``HiddenPhotos``.
    private(set) var hideNumber: Int64 = 0
    /// The clients that are attached, by their unique bus names. They are not stored.
    var clients: Set<String> = []
    /// The changes that are not stored yet.
    var changes: [Change] = []

    /// Returns a playlist that begins at the top of the source.
    static func unread(_ settings: SlideshowSettings, hideNumber: Int64 = 0) -> Playlist {
        Playlist(settings: settings, hideNumber: hideNumber, changes: [.cleared])
    }

    /// The photos that were shown before the current one, the latest last.
    var past: ArraySlice<Entry> { entries.prefix { $0.position < position } }
    /// The photos that follow after the current one, because the user went back.
    var future: ArraySlice<Entry> { entries.drop { $0.position <= position } }

    func contains(_ id: CombinedPhotoID) -> Bool { entries.contains { $0.id == id } }

    /// The interval of the timer; nil if it must not run.
    var timerInterval: Duration? {
        guard isActive, settings.intervalSeconds > 0 else { return nil }
        return .seconds(settings.intervalSeconds)
    }

    /// True if the next photo is prepared before a client requests it.
    var isActive: Bool { !clients.isEmpty && !settings.isPaused }

    /// The playlist without the clients, which are not stored.
    var durable: Playlist {
        var playlist = self
        playlist.clients = []
        return playlist
    }

    /// The accounts of all photos that were shown.
    var accounts: Set<AccountID> { Set(entries.map(\.id.account)) }

    // MARK: Steps

    /// Shows a photo that a client selects. Empties ``future``.
    mutating func show(_ shown: Shown, key: Int64) {
        entries.removeLast(future.count)
        // Without shuffle, a photo that a client selects is shown in its turn, too.
        advance(to: shown, key: key)
    }

    /// Shows the next photo of the order. Photos of ``future``, which could not be shown, count as shown.
    ///
    /// - Parameters:
    ///   - shown: The photo.
    ///   - key: The random part of its position in the next round.
    ///   - passed: The positions of the photos that were passed over in the search for it.
    mutating func advance(to shown: Shown, key: Int64, passed: [Int64] = []) {
        let last = entries.last
        // The same photo again is no other entry.
        if current?.id != shown.id || last?.position != position {
            position = max(position, last?.position ?? 0) + 1
            entries.append(Entry(position: position, id: shown.id))
        }
        makeCurrent(shown)
        take(shown.id, key, passed)
    }

    private mutating func take(_ id: CombinedPhotoID, _ key: Int64, _ passed: [Int64]) {
        changes.append(settings.isShuffled ? .taken(id, key: key) : .passed(passed))
    }

    /// Shows a photo of ``past`` or ``future``. The photos in between could not be shown; they count as shown.
    ///
    /// - Returns: False if the photo is no longer there. The playlist is unchanged then.
    mutating func move(to entry: Entry, _ shown: Shown, key: Int64) -> Bool {
        guard entries.contains(entry) else { return false }
        position = entry.position
        makeCurrent(shown)
        take(shown.id, key, [])
        return true
    }

    private mutating func makeCurrent(_ shown: Shown) {
        current = shown
        entries.removeFirst(max(0, past.count - Self.historyLimit))
    }

    /// Skips a photo in this round. One that no longer exists is removed, unless it is shown.
    mutating func skip(_ id: CombinedPhotoID, isGone: Bool, key: Int64, passed: [Int64] = []) {
        if isGone, current?.id != id { remove { $0 == id } }
        if isGone { changes.append(.removed([id])) } else { take(id, key, passed) }
    }

    // MARK: Reading

    /// Continues at the top of the first source, because the user wants other photos, or another order. Empties
    /// ``future``.
    mutating func reorder() {
        entries.removeLast(future.count)
        begin(0)
    }

    /// Continues at the top of a source whose photos are other ones, or in another order.
    mutating func begin(_ source: Int) {
        sourceIndex = source
        cursor = ""
        parts = [:]
        changes.append(.cleared)
    }

    /// Continues at the top of a source, after the photos that were read from the one before.
    ///
    /// - Parameters:
    ///   - source: The index of the source.
    ///   - isRepeated: True if its photos were read before and could not be shown. They are moved then, so that the number of
    ///     photos that follow is limited.
    mutating func walk(_ source: Int, isRepeated: Bool) {
        sourceIndex = source
        cursor = ""
        if !isRepeated { round += 1 }
        parts = [:]
        changes.append(.walked)
    }

    /// Begins another round of all known photos. The parts are read again, so that photos that left them are removed.
    mutating func beginRound() {
        round += 1
        changes.append(.roundBegan)
        for (account, var part) in parts where part.hasEnded {
            part.beginPass()
            read(account, part)
        }
    }

    /// Records the position in a part.
    mutating func read(_ account: AccountID, _ part: Part) {
        parts[account] = part
        changes.append(.read(account, part))
    }

    /// Removes an account that is no longer in the source.
    mutating func leave(_ account: AccountID) {
        parts[account] = nil
        changes.append(.left(account))
    }

    // MARK: Changes of photos

    /// Replaces the description of the current photo.
    mutating func update(_ photo: Photo, of id: CombinedPhotoID) {
        if current?.id == id { current?.photo = photo }
    }

    /// Replaces the image of the current photo by another one of the same photo.
    mutating func replaceImage(_ image: String) { current?.image = image }

    /// Removes photos from those that were shown. If the current photo is one of them, there is no current photo then.
    private mutating func remove(where isRemoved: (CombinedPhotoID) -> Bool) {
        entries.removeAll { isRemoved($0.id) }
        if let id = current?.id, isRemoved(id) { current = nil }
    }

    /// Removes photos that no longer exist.
    mutating func remove(_ ids: Set<CombinedPhotoID>) {
        remove(where: ids.contains)
        changes.append(.removed(ids))
    }

    /// Removes the photos of accounts that logged out, which are read again after a later login.
    mutating func logOut(_ accounts: Set<AccountID>) {
        remove { accounts.contains($0.account) }
        accounts.forEach { leave($0) }
    }

    /// Removes a photo that was hidden. If it was the current photo, there is no current photo then.
    ///
    /// - Parameters:
    ///   - id: The photo.
    ///   - number: The number of the hidden photo; nil for one that was hidden before.
    mutating func hide(_ id: CombinedPhotoID, _ number: Int64?) {
        remove { $0 == id }
        if let number { hideNumber = max(hideNumber, number) }
    }

    /// Deletes all data about an account that was removed.
    mutating func forget(_ account: AccountID) {
        let isSource = settings.hasSource(of: account)
        logOut([account])
        guard isSource else { return }
        settings.sources.removeAll { $0.account == account }
        if settings.sources.isEmpty { settings.sources = [.initial] }
        begin(0)
    }
}

/// The positions of photos that were not shown yet.
///
/// They follow all positions of shown photos. With shuffle, photos of this round and of the next one have ranges of their
/// own, which take turns, so that a new round changes no position.
nonisolated extension Playlist {
    private static let width: Int64 = 1 << 60
    /// The positions of all photos that were not shown yet.
    static let waiting = width..<3 * width
    /// The first position in the order of a source; new photos precede it.
    static let middle = 2 * width

    /// Returns the positions of the photos of a round, with shuffle.
    static func positions(_ round: Int64) -> Range<Int64> {
        let start = width * (1 + (round & 1))
        return start..<start + width
    }

    /// The positions of the photos that may be shown next.
    var next: Range<Int64> { settings.isShuffled ? Self.positions(round) : Self.waiting }

    /// Returns a random position in this round. New photos precede the others.
    func randomPosition(isNew: Bool, using random: inout some RandomNumberGenerator) -> Int64 {
        let half = Self.width / 2
        return next.lowerBound + (isNew ? 0 : half) + .random(in: 0..<half, using: &random)
    }

    /// Returns the random part of a position in the next round.
    static func randomKey(using random: inout some RandomNumberGenerator) -> Int64 {
        .random(in: width / 2..<width, using: &random)
    }
}
