package import EngineModel
internal import Logging
package import ProviderKit
internal import Storage
internal import System

/// The reading of the source of a slideshow. There are two ways to fill its playlist: with shuffle, all photos of the parts
/// of the source get random positions; without, the source is read in its order, one photo ahead, so that photos that leave
/// it are not shown.
package final class SlideshowReader {
    /// The number of photos of a page.
    private static let pageCount = 100
    /// The number of pages that are stored together.
    private static let batchPages = 10
    /// The number of photos that were not shown in this round, below which further pages of remote sources are read.
    private static let readAheadCount = 300

    private unowned let slideshow: Slideshow
    /// Runs the reading of pages.
    let queue = ChangeQueue()
    /// The numbers of new photos of parts that were not read yet.
    private var arrivals: [AccountID: Int] = [:]
    private(set) var background: Task<Void, Never>?
    /// The number of times that photos were added to the known ones.
    private(set) var additionCount = 0

    private var photos: any SlideshowPhotos { slideshow.photos }
    private var parts: [AccountID: Playlist.Part] { slideshow.playlist.parts }
    private var settings: SlideshowSettings { slideshow.settings }
    private var source: SlideshowSource { slideshow.source }

    init(_ slideshow: Slideshow) { self.slideshow = slideshow }

    /// Forgets new photos, because the source or the order changed.
    func reset() { arrivals = [:] }

    /// Forgets new photos of an account.
    func forget(_ account: AccountID) { arrivals[account] = nil }

    func stop() { background?.cancel() }

    /// Starts a task that retains the slideshow.
    private func start(_ work: @escaping () async -> Void) -> Task<Void, Never> {
        Task { [slideshow] in
            await work()
            withExtendedLifetime(slideshow) {}
        }
    }

    /// The source and the order of its photos. What was read with others is not stored.
    private var order: (source: SlideshowSource, order: String) { (source, settings.order) }

    /// Adapts the parts of the playlist to those of the source.
    func updateParts() async throws {
        let outdated = photos.parts(of: source).filter { part in
            part.isDated && !part.isLocal && parts[part.account]?.edition != part.edition
                && photos.mayFetch(part.account)
        }
        if !outdated.isEmpty {
            // The cache may have the photos of another date.
            await slideshow.wait(atMost: slideshow.callTimeLimit / 3) { [photos] in
                for part in outdated { await photos.refresh(part) }
            }
        }
        try await queue.run {
            let wanted = photos.parts(of: source)
            let left = parts.filter { account, part in
                !wanted.contains { $0.account == account && $0.edition == part.edition }
            }
            let new = wanted.filter { parts[$0.account]?.edition != $0.edition }
            guard !left.isEmpty || !new.isEmpty else { return }
            let started = order
            try await slideshow.commit { playlist in
                guard order == started else { return }
                // Another source of the same account has another order.
                if new.contains(where: { left[$0.account] != nil }) { playlist.cursor = "" }
                left.keys.forEach { playlist.leave($0) }
                for part in new where photos.isLoggedIn(part.account) {
                    playlist.read(part.account, Playlist.Part(edition: part.edition))
                }
            }
            additionCount += 1
        }
    }

    /// Reads a part, and stores its position. It is called on ``queue``.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - body: Reads the part and changes its position. Returns the changes; nil to store nothing.
    /// - Returns: The number of added photos; nil if nothing was stored, or if the source no longer contains the part.
    /// - Throws: The errors of `body` and of the store.
    @discardableResult
    private func read(
        _ part: SlideshowPart,
        _ body: (inout Playlist.Part) async throws -> [Playlist.Change]?
    ) async throws -> Int? {
        let started = order
        guard let before = parts[part.account], before.edition == part.edition else { return nil }
        var position = before
        guard let changes = try await body(&position) else { return nil }
        let result = try await slideshow.commitCounting { playlist in
            guard order == started, photos.isLoggedIn(part.account),
                playlist.parts[part.account] == before
            else { return false }
            playlist.changes += changes
            playlist.read(part.account, position)
            return true
        }
        guard result.value else { return nil }
        additionCount += 1
        return result.added
    }

    /// Reads a part after all earlier reads; see ``read(_:_:)``.
    private func readInTurn(
        _ part: SlideshowPart,
        _ body: (inout Playlist.Part) async throws -> [Playlist.Change]?
    ) async throws -> Int? {
        try await queue.run { try await read(part, body) }
    }

    /// Reads photos that were not read yet.
    ///
    /// - Returns: False at the end of the source.
    func readNext(_ search: inout SlideshowSearch) async throws -> Bool {
        settings.isShuffled ? try await readPage(&search) : try await readPhoto(&search)
    }

    // MARK: Order of the source

    /// Reads the photo that follows in the order of the source.
    private func readPhoto(_ search: inout SlideshowSearch) async throws -> Bool {
        let source = source
        // Without an account that is logged in, there is no photo.
        guard let cursor = slideshow.playlist.cursor, !photos.parts(of: source).isEmpty else {
            return false
        }
        if cursor.isEmpty { try await recordTops() }
        return try await queue.run {
            let started = order
            guard slideshow.playlist.cursor == cursor else { return true }
            var found: (photo: CombinedPhotoID?, next: String?)
            do {
                found = try await photos.next(in: source, after: cursor, settings.orientation)
                if found.next?.isEmpty == true { found.next = nil }
            } catch  where Self.isLostPosition(error) && !cursor.isEmpty {
                found = (nil, "")
            }
            try await slideshow.commit { playlist in
                guard order == started, playlist.cursor == cursor else { return }
                playlist.cursor = found.next
                if let id = found.photo { playlist.changes.append(.appended(id)) }
            }
            return found.photo != nil || photos.parts(of: source).allSatisfy(\.isLocal)
                || search.mayReadPage()
        }
    }

    private static func isLostPosition(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.staleCursor, ProviderError.invalidArgument,
            EngineError.invalidArgument:
            true
        default: false
        }
    }

    /// Records the newest photo of each part, because a walk begins at the top.
    private func recordTops() async throws {
        try await queue.run {
            for part in photos.parts(of: source) {
                try await read(part) { position in
                    // A part that cannot be read now has no photos in this walk.
                    let top = try? await photos.page(of: part, after: "", count: 1).photos.first?.id
                    guard top != position.top else { return nil }
                    position.top = top
                    return []
                }
            }
        }
    }

    // MARK: Shuffle

    /// Reads pages that were not read yet: of a local part if there is one, else one page of a remote part.
    ///
    /// - Returns: True if a page was read.
    private func readPage(_ search: inout SlideshowSearch) async throws -> Bool {
        for part in unreadParts {
            guard
                part.isLocal
                    || photos.mayFetch(part.account) && search.mayReadPage(of: part.account)
            else { continue }
            do {
                if try await readPages(of: part) { return true }
            } catch {
                if error is CancellationError || error is StorageError { throw error }
                search.recordPageFailure(error, of: part.account)
            }
        }
        return false
    }

    /// The parts that were not read to their end, local ones first.
    private var unreadParts: [SlideshowPart] {
        let unread = photos.parts(of: source).filter { part in
            parts[part.account].map { $0.edition == part.edition && !$0.hasEnded } ?? false
        }
        return unread.filter(\.isLocal) + unread.filter { !$0.isLocal }
    }

    /// Reads the next pages of a part.
    ///
    /// - Returns: False if the part was read to its end, or is no longer part of the source.
    private func readPages(of part: SlideshowPart) async throws -> Bool {
        let added = try await readInTurn(part) { position in
            guard !position.hasEnded, settings.isShuffled else { return nil }
            var found: [Photo] = []
            // The first page is stored at once, so that the first photo appears soon.
            let limit = part.isLocal && !position.cursor.isEmpty ? Self.batchPages : 1
            for _ in 0..<limit where !position.hasEnded {
                do {
                    let page = try await photos.page(
                        of: part, after: position.cursor, count: Self.pageCount)
                    found += page.photos
                    position.cursor = page.next
                    position.hasEnded = page.next.isEmpty
                } catch  where Self.isLostPosition(error) && !position.cursor.isEmpty {
                    position.beginPass()
                }
            }
            // Of a local part, all photos were known after the first pass.
            let addition = addition(
                of: found, to: part.account, pass: position.pass,
                areNew: part.isLocal && position.pass > 1)
            return position.hasEnded
                ? [addition, .missed(part.account, pass: position.pass)] : [addition]
        }
        return added != nil
    }

    /// Begins a new round with the known photos, unless photos of this round remain.
    ///
    /// - Parameter search: The search that has shown or skipped all photos.
    /// - Returns: False if no round began.
    /// - Throws: `StorageError`.
    func beginRound(after search: SlideshowSearch) async throws -> Bool {
        guard search.current == nil, search.rest.isEmpty else { return false }
        return try await queue.run {
            try await slideshow.commit { playlist in
                guard search.additionCount == additionCount else { return false }
                playlist.beginRound()
                return true
            }
        }
    }

    /// Reads in the background: new photos, local parts to their end, and a page of a remote part if few photos of the
    /// round are left.
    func readAhead() {
        guard background == nil else { return }
        background = start { [self] in
            do {
                while !arrivals.isEmpty, !Task.isCancelled { try await readArrivals() }
                while settings.isShuffled, let part = unreadParts.first, part.isLocal,
                    !Task.isCancelled
                {
                    guard try await readPages(of: part) else { break }
                    await Task.yield()
                }
                try await readRemotePage()
            } catch {
                slideshow.logger.info(
                    "The source cannot be read", metadata: ["reason": "\(error)"])
                slideshow.photosMayBeAvailable()
            }
            background = nil
            if !arrivals.isEmpty, !Task.isCancelled { readAhead() }
        }
    }

    private func readRemotePage() async throws {
        guard settings.isShuffled, slideshow.playlist.isActive,
            let part = unreadParts.first(where: photos.mayReadAhead)
        else { return }
        let ahead = try await slideshow.waiting(slideshow.playlist.next, limit: Self.readAheadCount)
        if ahead.entries.count < Self.readAheadCount { _ = try await readPages(of: part) }
    }

    /// Returns the change that adds photos of an account to the known ones, at random positions.
    ///
    /// - Parameters:
    ///   - found: The photos. Those of another orientation are not added.
    ///   - account: The account.
    ///   - pass: The pass in which they were found.
    ///   - areNew: True if unknown photos precede the others of the round.
    /// - Returns: The change.
    private func addition(
        of found: [Photo], to account: AccountID, pass: Int64, areNew: Bool
    ) -> Playlist.Change {
        let wanted = found.filter { settings.orientation.accepts($0) || $0.isUnsized }
        return .added(account, wanted.map(\.id), positions: positions(wanted, areNew), pass: pass)
    }

    /// Returns random positions; nil for photos whose size is needed to choose them, and is unknown.
    private func positions(_ found: [Photo], _ areNew: Bool) -> [Int64?] {
        var random = slideshow.makeRandom()
        return found.map { photo in
            settings.orientation.accepts(photo)
                ? slideshow.playlist.randomPosition(isNew: areNew, using: &random) : nil
        }
    }

    /// Adds the photos of the orientation whose size was unknown when they were read. They are shown next.
    func addSized(_ account: AccountID, _ changed: [Photo]) {
        let changed = changed.filter(settings.orientation.accepts)
        guard settings.orientation != .any, settings.isShuffled, !changed.isEmpty,
            let part = photos.part(of: source, account)
        else { return }
        _ = start { [self] in
            // The page with the photo may still be written.
            let added = try? await readInTurn(part) { _ in
                [.sized(account, changed.map(\.id), positions: positions(changed, true))]
            }
            if let added, added > 0 { slideshow.photosMayBeAvailable() }
        }
    }

    // MARK: New photos

    /// Records that photos arrived in a source of an account, or left it.
    func sourceChanged(_ account: AccountID, _ source: SourceID, new: Int) {
        guard let part = photos.part(of: self.source, account), part.source == source else {
            // The photos of another source may end the state without a photo.
            if slideshow.isExhausted { slideshow.photosMayBeAvailable() }
            return
        }
        // Without a first page, there is no known photo to which a new one could be compared.
        guard let position = parts[account], position.edition == part.edition,
            !settings.isShuffled || !position.cursor.isEmpty || position.hasEnded,
            new > 0 || part.isSelection
        else { return slideshow.photosMayBeAvailable() }
        // The search begins after the new photos are known.
        arrivals[account, default: 0] += settings.isShuffled ? max(new, 1) : new
        readAhead()
    }

    /// Adds new photos of a local account, which are shown next.
    package func photosAdded(_ account: AccountID, _ new: [PhotoID]) {
        // Photos that the first pass has not reached yet are found by it.
        guard settings.isShuffled, let part = photos.part(of: source, account), part.isLocal,
            !part.isSelection, let position = parts[account], position.edition == part.edition,
            position.hasEnded || !position.cursor.isEmpty
        else { return }
        let started = order
        _ = start { [self] in
            _ = try? await readInTurn(part) { position in
                guard order == started else { return nil }
                // The form of the photos matters only for an orientation.
                let isFormNeeded = settings.orientation != .any
                var known: [Photo] = []
                for id in new {
                    let photo =
                        isFormNeeded
                        ? try? await photos.photo(CombinedPhotoID(account, id), isCached: true)
                        : Photo(id: id)
                    if let photo { known.append(photo) }
                }
                return [addition(of: known, to: account, pass: position.pass, areNew: true)]
            }
            slideshow.photosMayBeAvailable()
        }
    }

    private func readArrivals() async throws {
        guard let (account, new) = arrivals.popFirst() else { return }
        guard let part = photos.part(of: source, account) else { return }
        try await queue.run {
            if settings.isShuffled {
                try await readArrivals(of: part, new)
            } else {
                try await readArrivalsInOrder(of: part, new)
            }
        }
        slideshow.photosMayBeAvailable()
    }

    /// Adds the new photos of a part, which are shown next.
    private func readArrivals(of part: SlideshowPart, _ new: Int) async throws {
        if part.isSelection {
            // A read from the top also detects the photos that left the part.
            try await read(part) { position in
                position.beginPass()
                return []
            }
            return
        }
        // The new photos of a local part are added one by one.
        guard !part.isLocal else { return }
        let started = order
        var cursor = ""
        var found = 0
        repeat {
            // Photos of another orientation or of unknown size may be new, too, and precede others.
            var others = 0
            let added = try await read(part) { position in
                let page = try await photos.page(of: part, after: cursor, count: Self.pageCount)
                cursor = page.next
                others = page.photos.count { !settings.orientation.accepts($0) }
                return [
                    addition(of: page.photos, to: part.account, pass: position.pass, areNew: true)
                ]
            }
            // New photos of a service are at the top.
            guard let added, added + others > 0 else { return }
            found += added + others
        } while found < new && !cursor.isEmpty && order == started && !Task.isCancelled
    }

    /// Adds the new photos at the top of a part, which are shown next in the order of the source.
    private func readArrivalsInOrder(of part: SlideshowPart, _ new: Int) async throws {
        try await read(part) { position in
            guard new > 0, let top = position.top else { return nil }
            let page = try await photos.page(of: part, after: "", count: min(new, Self.pageCount))
            let arrived = page.photos.prefix { $0.id != top }
            guard let first = arrived.first else { return nil }
            position.top = first.id
            let playlist = slideshow.playlist
            // A walk that begins at the top contains the new photos, unless one of its photos was read.
            let isAtTop =
                playlist.cursor == "" || playlist.cursor == nil && settings.sources.count == 1
            let isUnread = try await slideshow.waiting(playlist.next, limit: 1).entries.isEmpty
            if isAtTop, isUnread { return [] }
            let found = arrived.filter(settings.orientation.accepts)
            return [.prepended(found.map { CombinedPhotoID(part.account, $0.id) })]
        }
    }

    /// Reads the tops of the parts, so that old ones are refreshed, because a client was attached.
    func readTops() {
        let parts = photos.parts(of: source).filter { !$0.isLocal }
        guard !parts.isEmpty, slideshow.playlist.current != nil else { return }
        _ = start { [self] in
            // An error is reported by the state of the account.
            for part in parts { _ = try? await photos.page(of: part, after: "", count: 1) }
        }
    }
}

nonisolated extension Photo {
    fileprivate var isUnsized: Bool { width == nil || height == nil }
}
