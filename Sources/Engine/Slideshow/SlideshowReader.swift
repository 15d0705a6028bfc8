internal import Logging
internal import ProviderKit
internal import Storage

/// The reading of the source of a slideshow, which determines the known photos and the new ones.
final class SlideshowReader {
    /// The number of photos of a page.
    private static let pageCount = 100
    /// The number of pages that are stored together.
    private static let batchPages = 10
    /// The number of photos that were not shown in this round, below which further pages of remote sources are read.
    private static let readAheadCount = 300

    private unowned let slideshow: Slideshow
    private let store: SlideshowStore
    private let photos: any SlideshowPhotos
    /// Returns the seed of the next random order.
    private let makeSeed: () -> UInt64
    /// Runs the reading of pages.
    let queue = ChangeQueue()
    /// The position in each part of the source.
    private(set) var parts: [AccountID: SlideshowTables.PartState]
    /// The numbers of new photos of parts that were not read yet.
    private var arrivals: [AccountID: Int] = [:]
    private(set) var background: Task<Void, Never>?
    /// The number of times that photos were added to the known ones.
    private(set) var additionCount = 0
    /// The number of rounds that began since the start, besides the first one.
    private(set) var roundCount = 0

    private var revision: Int { slideshow.revision }
    private var settings: SlideshowSettings { slideshow.settings }
    private var source: SlideshowSource { slideshow.source }

    init(
        _ slideshow: Slideshow, _ store: SlideshowStore, _ photos: any SlideshowPhotos,
        _ parts: [AccountID: SlideshowTables.PartState], makeSeed: @escaping () -> UInt64
    ) {
        self.slideshow = slideshow
        self.store = store
        self.photos = photos
        self.parts = parts
        self.makeSeed = makeSeed
    }

    /// Begins at the top of all parts, because the source or the order changed.
    func reset() {
        parts = [:]
        arrivals = [:]
    }

    /// Removes an account, whose photos are read again when it logs in later.
    func forget(_ account: AccountID) {
        parts[account] = nil
        arrivals[account] = nil
    }

    func stop() { background?.cancel() }

    /// Starts a task that retains the slideshow.
    private func start(_ work: @escaping () async -> Void) -> Task<Void, Never> {
        Task { [slideshow] in
            await work()
            withExtendedLifetime(slideshow) {}
        }
    }

    /// Returns the parts of the source that were read, after removing those that are no longer in it.
    func updateParts() async throws {
        try await queue.run {
            let started = revision
            let wanted = photos.parts(of: source)
            for (account, part) in parts
            where !wanted.contains(where: { $0.account == account && $0.source == part.source }) {
                try await store.change { (tables) throws(StorageError) in
                    try tables.apply(.forget(account), isShuffled: true)
                }
                guard revision == started else { return }
                parts[account] = nil
            }
            for part in wanted where parts[part.account] == nil {
                try await write(SlideshowTables.PartState(source: part.source), of: part, started)
            }
        }
    }

    /// Stores the position in a part, unless the source or the order changed since `started`.
    @discardableResult
    private func write(
        _ new: SlideshowTables.PartState, of part: SlideshowPart, _ started: Int,
        _ body: @escaping @Sendable (SlideshowTables) throws(StorageError) -> Void = {
            _ throws(StorageError) in
        }
    ) async throws -> Bool {
        guard revision == started, photos.isLoggedIn(part.account) else { return false }
        let account = part.account
        try await store.change { (tables) throws(StorageError) in
            try body(tables)
            try tables.write(new, of: account)
        }
        guard revision == started else { return false }
        parts[account] = new
        return true
    }

    // MARK: Shuffle

    /// Reads pages that were not read yet: of a local part if there is one, else one page of a remote part.
    ///
    /// - Returns: True if a page was read.
    func readPage(_ search: inout Slideshow.RunningSearch) async throws -> Bool {
        for part in unreadParts {
            if !part.isLocal {
                guard photos.mayFetch(part.account),
                    search.limits.mayReadPage(of: part.account, elapsed: search.elapsed)
                else { continue }
            }
            do {
                if try await readPages(of: part) { return true }
            } catch let error as CancellationError {
                throw error
            } catch let error as StorageError {
                throw error
            } catch {
                search.limits.recordPageFailure(error, of: part.account)
            }
        }
        return false
    }

    /// The parts that were not read to their end, local ones first.
    private var unreadParts: [SlideshowPart] {
        let unread = photos.parts(of: source).filter { part in
            parts[part.account].map { $0.source == part.source && !$0.hasEnded } ?? false
        }
        return unread.filter(\.isLocal) + unread.filter { !$0.isLocal }
    }

    /// Reads the next pages of a part.
    ///
    /// - Returns: False if the part was read to its end, or is no longer part of the source.
    private func readPages(of part: SlideshowPart) async throws -> Bool {
        try await queue.run {
            let started = revision
            guard var position = parts[part.account], position.source == part.source,
                !position.hasEnded, settings.isShuffled
            else { return false }
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
                } catch  where Slideshow.isLostPosition(error) && !position.cursor.isEmpty {
                    position.cursor = ""
                    position.pass += 1
                }
            }
            // Of a local part, all photos were known after the first pass.
            let areNew = part.isLocal && position.pass > 1
            let (pass, hasEnded) = (position.pass, position.hasEnded)
            let addition = addition(of: found, to: part.account, pass: pass, areNew: areNew)
            let account = part.account
            let isWritten = try await write(position, of: part, started) {
                (tables) throws(StorageError) in
                _ = try addition(tables)
                if hasEnded { try tables.removeMissing(of: account, pass: pass) }
            }
            additionCount += 1
            return isWritten
        }
    }

    /// Begins a new round with the known photos. The parts are read again, so that photos that left them are removed.
    ///
    /// - Parameter additions: ``additionCount`` when all known photos were shown.
    /// - Returns: False if there are no known photos, or some were added since.
    /// - Throws: `StorageError`.
    func beginRound(after additions: Int) async throws -> Bool {
        try await queue.run {
            guard additions == additionCount else { return false }
            let started = revision
            let seed = makeSeed()
            var new = parts
            for (account, part) in parts where part.hasEnded {
                new[account]?.cursor = ""
                new[account]?.hasEnded = false
                new[account]?.pass += 1
            }
            let (count, restarted) = try await store.change {
                [new] (tables) throws(StorageError) in
                var random = SlideshowRandom(seed: seed)
                let count = try tables.beginRound(using: &random)
                if count > 0 {
                    for (account, part) in new { try tables.write(part, of: account) }
                }
                return (count, new)
            }
            guard revision == started, count > 0 else { return false }
            parts = restarted
            roundCount += 1
            return true
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
        guard settings.isShuffled, slideshow.state.isActive,
            let part = unreadParts.first(where: photos.mayReadAhead),
            try await store.candidates(limit: Self.readAheadCount).count < Self.readAheadCount
        else { return }
        _ = try await readPages(of: part)
    }

    /// Returns the transaction that adds photos of an account to the known ones, in random order.
    ///
    /// - Parameters:
    ///   - found: The photos.
    ///   - account: The account.
    ///   - pass: The pass in which they were found.
    ///   - areNew: True if unknown photos precede the others of the round.
    /// - Returns: The transaction, which returns the number of photos that were not known.
    private func addition(
        of found: [Photo], to account: AccountID, pass: Int, areNew: Bool
    ) -> @Sendable (SlideshowTables) throws(StorageError) -> Int {
        let (new, unsized, seed) = (wanted(found), unsized(found), makeSeed())
        return { (tables) throws(StorageError) in
            var random = SlideshowRandom(seed: seed)
            try tables.addUnsized(unsized, of: account, pass: pass)
            return try tables.add(new, of: account, pass: pass, areNew: areNew, using: &random)
        }
    }

    /// Returns the IDs of the photos that have the orientation of the slideshow.
    private func wanted(_ photos: [Photo]) -> [PhotoID] {
        photos.filter(settings.orientation.accepts).map(\.id)
    }

    /// Returns the IDs of the photos whose size is needed to choose them, and is unknown.
    private func unsized(_ photos: [Photo]) -> [PhotoID] {
        guard settings.orientation != .any else { return [] }
        return photos.filter { $0.width == nil || $0.height == nil }.map(\.id)
    }

    /// Adds the photos of the orientation whose size was unknown when they were read. They are shown next.
    func addSized(_ account: AccountID, _ changed: [Photo]) {
        let changed = wanted(changed)
        guard settings.orientation != .any, settings.isShuffled, !changed.isEmpty else { return }
        _ = start { [self] in
            // The page with the photo may still be written.
            try? await queue.run {
                guard let pass = parts[account]?.pass else { return }
                let seed = makeSeed()
                let added = try await store.change { (tables) throws(StorageError) in
                    var random = SlideshowRandom(seed: seed)
                    return try tables.add(
                        tables.takeUnsized(changed, of: account), of: account, pass: pass,
                        areNew: true, using: &random)
                }
                guard added > 0 else { return }
                additionCount += 1
                slideshow.photosMayBeAvailable()
            }
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
        guard let position = parts[account], position.source == source,
            !settings.isShuffled || !position.cursor.isEmpty || position.hasEnded,
            new > 0 || part.isSelection
        else { return slideshow.photosMayBeAvailable() }
        // The search begins after the new photos are known.
        arrivals[account, default: 0] += max(new, 1)
        readAhead()
    }

    /// Adds new photos of a local account, which are shown next.
    func photosAdded(_ account: AccountID, _ new: [PhotoID]) {
        // Photos that the first pass has not reached yet are found by it.
        guard settings.isShuffled, let part = photos.part(of: source, account), part.isLocal,
            !part.isSelection, let position = parts[account], position.source == part.source,
            position.hasEnded || !position.cursor.isEmpty
        else { return }
        let started = revision
        _ = start { [self] in
            try? await queue.run {
                var known: [Photo] = []
                for id in new {
                    // The form of the photos matters only for an orientation.
                    let isFormNeeded = settings.orientation != .any
                    let photo =
                        isFormNeeded
                        ? try? await photos.photo(CombinedPhotoID(account, id), isCached: true)
                        : Photo(id: id)
                    if let photo { known.append(photo) }
                }
                guard revision == started, photos.isLoggedIn(account),
                    let position = parts[account], position.source == part.source
                else { return }
                _ = try await store.change(
                    addition(of: known, to: account, pass: position.pass, areNew: true))
                additionCount += 1
            }
            slideshow.photosMayBeAvailable()
        }
    }

    private func readArrivals() async throws {
        guard let (account, new) = arrivals.first else { return }
        arrivals[account] = nil
        guard let part = photos.part(of: source, account) else { return }
        if settings.isShuffled {
            try await readArrivals(of: part, new)
        } else {
            try await readArrivalsInOrder(of: part, new)
        }
        slideshow.photosMayBeAvailable()
    }

    /// Adds the new photos of a part, which are shown next.
    private func readArrivals(of part: SlideshowPart, _ new: Int) async throws {
        try await queue.run {
            let started = revision
            guard var position = parts[part.account], position.source == part.source else { return }
            // The new photos of a local part are added one by one.
            guard part.isSelection || !part.isLocal else { return }
            if part.isSelection {
                // A read from the top also detects the photos that left the part.
                position.cursor = ""
                position.hasEnded = false
                position.pass += 1
                try await write(position, of: part, started)
                return
            }
            var cursor = ""
            var found = 0
            repeat {
                let page = try await photos.page(of: part, after: cursor, count: Self.pageCount)
                let account = part.account
                guard revision == started, photos.isLoggedIn(account) else { return }
                let pass = parts[account]?.pass ?? position.pass
                let added = try await store.change(
                    addition(of: page.photos, to: account, pass: pass, areNew: true))
                additionCount += 1
                found += added
                cursor = page.next
                // New photos of a service are at the top.
                if added == 0 { return }
            } while found < new && !cursor.isEmpty && revision == started && !Task.isCancelled
        }
    }

    /// Adds the new photos at the top of a part, which are shown next in the order of the source.
    private func readArrivalsInOrder(of part: SlideshowPart, _ new: Int) async throws {
        try await queue.run {
            let started = revision
            guard new > 0, var position = parts[part.account], position.source == part.source,
                let top = position.top
            else { return }
            let page = try await photos.page(
                of: part, after: "", count: min(new, Self.pageCount))
            let arrived = page.photos.prefix { $0.id != top }
            guard let first = arrived.first else { return }
            position.top = first.id
            let found = wanted(Array(arrived))
            // A walk that begins at the top contains the new photos, unless one of its photos is being prepared.
            let isAtTop =
                slideshow.state.cursor.isEmpty && slideshow.candidate?.cursor == nil
                && slideshow.preparation == nil
            let account = part.account
            try await write(position, of: part, started) { (tables) throws(StorageError) in
                if !isAtTop { try tables.addInOrder(found, of: account) }
            }
        }
    }

    /// Records the newest photo of each part, because a walk begins at the top.
    func recordTops() async throws {
        try await queue.run {
            let started = revision
            for part in photos.parts(of: source) {
                guard var position = parts[part.account], position.source == part.source else {
                    continue
                }
                // A part that cannot be read now has no photos in this walk.
                let top = try? await photos.page(of: part, after: "", count: 1).photos.first?.id
                guard top != position.top else { continue }
                position.top = top
                try await write(position, of: part, started)
            }
        }
    }

    /// Reads the tops of the parts, so that old ones are refreshed, because a client was attached.
    func readTops() {
        let parts = photos.parts(of: source).filter { !$0.isLocal }
        guard !parts.isEmpty, slideshow.state.current != nil else { return }
        _ = start { [self] in
            // An error is reported by the state of the account.
            for part in parts { _ = try? await photos.page(of: part, after: "", count: 1) }
        }
    }
}
