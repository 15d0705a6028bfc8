package import Accounts
internal import Logging
package import ProviderKit
internal import Storage

/// The reading of the source of a slideshow, which determines the known photos and the new ones.
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
    /// The position in each part of the source.
    private(set) var parts: [AccountID: SlideshowTables.PartState]
    /// The numbers of new photos of parts that were not read yet.
    private var arrivals: [AccountID: Int] = [:]
    private(set) var background: Task<Void, Never>?
    /// The number of times that photos were added to the known ones.
    private(set) var additionCount = 0
    /// The number of rounds that began since the start, besides the first one.
    private(set) var roundCount = 0

    private var store: SlideshowStore { slideshow.store }
    private var photos: any SlideshowPhotos { slideshow.photos }
    private var revision: Int { slideshow.revision }
    private var settings: SlideshowSettings { slideshow.settings }
    private var source: SlideshowSource { slideshow.source }

    init(_ slideshow: Slideshow, _ parts: [AccountID: SlideshowTables.PartState]) {
        self.slideshow = slideshow
        self.parts = parts
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

    /// A transaction that adds photos, and returns the number of those that were not known.
    private typealias Addition = @Sendable (SlideshowTables) throws(StorageError) -> Int

    /// Adds photos and stores the position in a part, unless the source or the order changed since `started`.
    ///
    /// - Returns: The number of added photos; nil if nothing was stored.
    @discardableResult
    private func write(
        _ new: SlideshowTables.PartState, of part: SlideshowPart, _ started: Int,
        _ addition: @escaping Addition = { _ throws(StorageError) in 0 }
    ) async throws -> Int? {
        guard revision == started, photos.isLoggedIn(part.account) else { return nil }
        let account = part.account
        let added = try await store.change { (tables) throws(StorageError) in
            let added = try addition(tables)
            try tables.write(new, of: account)
            return added
        }
        guard revision == started, photos.isLoggedIn(account) else { return nil }
        parts[account] = new
        additionCount += 1
        return added
    }

    /// Reads a part, and stores its position. It is called on ``queue``.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - body: Reads the part and changes its position. Returns the photos to add; nil to store nothing.
    /// - Returns: The number of added photos; nil if nothing was stored, or if the source no longer contains the part.
    /// - Throws: The errors of `body` and of the store.
    @discardableResult
    private func read(
        _ part: SlideshowPart,
        _ body: (inout SlideshowTables.PartState) async throws -> Addition?
    ) async throws -> Int? {
        let started = revision
        guard var position = parts[part.account], position.source == part.source,
            let addition = try await body(&position), parts[part.account] != nil
        else { return nil }
        return try await write(position, of: part, started, addition)
    }

    /// Reads a part after all earlier reads; see ``read(_:_:)``.
    private func readInTurn(
        _ part: SlideshowPart,
        _ body: (inout SlideshowTables.PartState) async throws -> Addition?
    ) async throws -> Int? {
        try await queue.run { try await read(part, body) }
    }

    // MARK: Shuffle

    /// Reads pages that were not read yet: of a local part if there is one, else one page of a remote part.
    ///
    /// - Returns: True if a page was read.
    func readPage(_ search: inout SlideshowSearch) async throws -> Bool {
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
            parts[part.account].map { $0.source == part.source && !$0.hasEnded } ?? false
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
                } catch  where Slideshow.isLostPosition(error) && !position.cursor.isEmpty {
                    position.beginPass()
                }
            }
            let (account, pass, hasEnded) = (part.account, position.pass, position.hasEnded)
            // Of a local part, all photos were known after the first pass.
            let addition = addition(
                of: found, to: account, pass: pass, areNew: part.isLocal && pass > 1)
            return { (tables) throws(StorageError) in
                let added = try addition(tables)
                if hasEnded { try tables.removeMissing(of: account, pass: pass) }
                return added
            }
        }
        return added != nil
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
            let random = slideshow.makeRandom()
            var restarted = parts
            for (account, part) in parts where part.hasEnded { restarted[account]?.beginPass() }
            let count = try await store.change { [restarted] (tables) throws(StorageError) in
                var random = random
                let count = try tables.beginRound(using: &random)
                if count > 0 {
                    for (account, part) in restarted { try tables.write(part, of: account) }
                }
                return count
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
    /// - Returns: The transaction.
    private func addition(
        of found: [Photo], to account: AccountID, pass: Int, areNew: Bool
    ) -> Addition {
        let (new, unsized, random) = (wanted(found), unsized(found), slideshow.makeRandom())
        return { (tables) throws(StorageError) in
            var random = random
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
        guard settings.orientation != .any, settings.isShuffled, !changed.isEmpty,
            let part = photos.part(of: source, account)
        else { return }
        _ = start { [self] in
            // The page with the photo may still be written.
            let added = try? await readInTurn(part) { position in
                let (pass, random) = (position.pass, slideshow.makeRandom())
                return { (tables) throws(StorageError) in
                    var random = random
                    return try tables.add(
                        tables.takeUnsized(changed, of: account), of: account, pass: pass,
                        areNew: true, using: &random)
                }
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
        guard let position = parts[account], position.source == source,
            !settings.isShuffled || !position.cursor.isEmpty || position.hasEnded,
            new > 0 || part.isSelection
        else { return slideshow.photosMayBeAvailable() }
        // The search begins after the new photos are known.
        arrivals[account, default: 0] += max(new, 1)
        readAhead()
    }

    /// Adds new photos of a local account, which are shown next.
    package func photosAdded(_ account: AccountID, _ new: [PhotoID]) {
        // Photos that the first pass has not reached yet are found by it.
        guard settings.isShuffled, let part = photos.part(of: source, account), part.isLocal,
            !part.isSelection, let position = parts[account], position.source == part.source,
            position.hasEnded || !position.cursor.isEmpty
        else { return }
        let started = revision
        _ = start { [self] in
            _ = try? await readInTurn(part) { position in
                guard revision == started else { return nil }
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
                return addition(of: known, to: account, pass: position.pass, areNew: true)
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
                return { _ throws(StorageError) in 0 }
            }
            return
        }
        // The new photos of a local part are added one by one.
        guard !part.isLocal else { return }
        let started = revision
        var cursor = ""
        var found = 0
        repeat {
            let added = try await read(part) { position in
                let page = try await photos.page(of: part, after: cursor, count: Self.pageCount)
                cursor = page.next
                return addition(
                    of: page.photos, to: part.account, pass: position.pass, areNew: true)
            }
            // New photos of a service are at the top.
            guard let added, added > 0 else { return }
            found += added
        } while found < new && !cursor.isEmpty && revision == started && !Task.isCancelled
    }

    /// Adds the new photos at the top of a part, which are shown next in the order of the source.
    private func readArrivalsInOrder(of part: SlideshowPart, _ new: Int) async throws {
        try await read(part) { position in
            guard new > 0, let top = position.top else { return nil }
            let page = try await photos.page(
                of: part, after: "", count: min(new, Self.pageCount))
            let arrived = page.photos.prefix { $0.id != top }
            guard let first = arrived.first else { return nil }
            position.top = first.id
            // A walk that begins at the top contains the new photos, unless one of its photos is being prepared.
            let isAtTop =
                slideshow.state.cursor.isEmpty && slideshow.candidate?.cursor == nil
                && slideshow.preparation == nil
            let found = isAtTop ? [] : wanted(Array(arrived))
            let account = part.account
            return { (tables) throws(StorageError) in
                try tables.addInOrder(found, of: account)
                return found.count
            }
        }
    }

    /// Records the newest photo of each part, because a walk begins at the top.
    func recordTops() async throws {
        try await queue.run {
            for part in photos.parts(of: source) {
                try await read(part) { position in
                    // A part that cannot be read now has no photos in this walk.
                    let top = try? await photos.page(of: part, after: "", count: 1).photos.first?.id
                    guard top != position.top else { return nil }
                    position.top = top
                    return { _ throws(StorageError) in 0 }
                }
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
