internal import EngineModel
package import Feeds
package import ProviderKit
internal import Quoting
internal import Services
internal import System
internal import Translation

/// The combined feed: the photos of all accounts that are logged in.
///
/// This type stores no photos. A page is read from the accounts with as few photos as possible; see ``CombinedMerge``.
/// A walk contains the accounts that are logged in at its beginning. An account that logs out is removed from the walk,
/// and an account that logs in later is not added. An account that cannot be read at the beginning of a walk is added
/// with its newest photo as soon as it can be read.
package final class CombinedFeed {
    /// The source with the default source of every account.
    package static let all = SourceID("all")
    /// The source with the liked photos of every account.
    package static let likes = SourceID("likes")
    /// The source with the source of the same name of the accounts that have it.
    package static let memories = SourceID("memories")

    /// The time limit of the reads of a page. Clients expect a page within two seconds.
    private static let timeout = Duration.milliseconds(1_800)
    /// The time limit of a read after that, and of a read of an account that did not respond to the last one.
    private static let shortTimeout = Duration.milliseconds(100)

    private unowned let engine: Engine
    /// The default source that the user chose. Persistent.
    private var chosenSource: SourceID
    /// The time after a read that exceeded its limit in which reads of the account have the short limit.
    private static let latePeriod = Duration.seconds(30)
    /// The logins whose last read exceeded its limit, each with the end of the time in which reads have the short limit.
    private var lateLogins: [UInt32: Timestamp] = [:]
    /// The logins that the most recent first page left out.
    private var leftOut: Set<UInt32> = []

    /// - Parameters:
    ///   - engine: The engine that has the accounts and this object.
    ///   - defaultSource: The stored default source; nil if the user has not chosen one.
    init(_ engine: Engine, defaultSource: SourceID?) {
        self.engine = engine
        chosenSource = defaultSource ?? Self.all
    }

    /// The accounts that are logged in, in the order of their first login.
    package var accounts: [Account] { engine.accounts.all.filter(\.isLoggedIn) }

    /// The accounts that the most recent first page left out, because they could not be read and have no cache.
    package var incomplete: [Account] {
        accounts.filter { leftOut.contains($0.record.loginNumber) }
    }

    /// True if pages expire, because an account has its photos at a remote service.
    package var hasAgingPages: Bool { accounts.contains(where: \.hasAgingPages) }

    /// The current time.
    package var now: Timestamp { engine.ports.now() }

    // MARK: Sources

    /// Returns the sources.
    package func sources() -> [Source] {
        var sources = [
            Source(id: Self.all, title: Message("All accounts"), kind: .feed),
            Source(id: Self.likes, title: Message("Liked photos"), kind: .likes, count: likeCount),
        ]
        if hasMemories {
            sources.append(Source(id: Self.memories, title: Message("Memories"), kind: .feed))
        }
        return sources
    }

    /// The source that the user chose, as long as it exists; otherwise ``all``.
    package var defaultSource: SourceID {
        chosenSource == Self.memories && !hasMemories ? Self.all : chosenSource
    }

    private var hasMemories: Bool { accounts.contains(where: \.hasMemories) }

    /// Changes the default source.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if the source does not exist; ``StorageError``.
    package func setDefaultSource(_ source: SourceID) async throws {
        try check(source)
        try await engine.store.saveCombinedSource(source)
        chosenSource = source
    }

    func check(_ source: SourceID) throws {
        switch source {
        case Self.all, Self.likes: return
        case Self.memories where hasMemories: return
        default: throw EngineError.notFound("There is no source \(source.text.quoted).")
        }
    }

    /// Returns the source that a call selects: the default source for an empty text.
    package func resolve(_ source: String) -> SourceID {
        source.isEmpty ? defaultSource : SourceID(source)
    }

    /// Returns the accounts of a source, each with its own source.
    package func members(of source: SourceID) -> [(account: Account, source: SourceID)] {
        accounts.compactMap { account in account.source(in: source).map { (account, $0) } }
    }

    /// Returns the combined sources that contain the photos of a source of an account.
    package func sources(containing source: SourceID, of account: Account) -> [SourceID] {
        guard account.isLoggedIn else { return [] }
        return [Self.all, Self.likes, Self.memories].filter { account.source(in: $0) == source }
    }

    /// Starts or renews the watch of the sources of all accounts of a source; see ``Account/watch(_:by:)``. Call
    /// ``Engine/unwatch(_:)`` when the watcher ends.
    package func watch(_ source: SourceID, by watcher: WatcherID) {
        for (account, source) in members(of: resolve(source.text)) {
            account.watch(source, by: watcher)
        }
    }

    /// Returns true if the photos of an account in a source change with the date; see ``Account/isDated(_:)``.
    package func isDated(_ source: SourceID) -> Bool {
        members(of: source).contains { $0.account.isDated($0.source) }
    }

    // MARK: Pages

    /// Reads one page of a source.
    ///
    /// - Parameters:
    ///   - source: The source; empty for the default source.
    ///   - cursor: The cursor of the previous page; empty for the first page.
    ///   - count: The number of photos, 1 to 100.
    ///   - isForClient: True if the page determines ``incomplete``.
    /// - Returns: The photos, each with its account, the cursor of the next page, which is empty at the end, and true if
    ///   every account could be read.
    /// - Throws: ``EngineError/notFound(_:)``, ``EngineError/invalidArgument(_:)``, ``ProviderError``; the error of an
    ///   account if all accounts that are not at their end have stopped in the middle.
    package func page(
        _ source: String, cursor: String, count: Int, isForClient: Bool = true
    ) async throws -> (photos: [(account: Account, photo: Photo)], next: String, isComplete: Bool) {
        guard 1...100 ~= count else {
            throw EngineError.invalidArgument("A page has 1 to 100 photos, not \(count).")
        }
        let source = resolve(source)
        try check(source)
        let walk = try walk(through: source, from: cursor)
        let merge = try await merge(walk, count: count)
        if cursor.isEmpty, isForClient {
            recordFirstPage(leftOut: Set(merge.leftOut.map { walk[$0].entry.login }))
        }
        if let problem = merge.problem { throw problem }
        let photos = merge.items.map { (account: walk[$0.member].account, photo: $0.photo) }
        let next = try merge.cursor?.text(of: source) ?? ""
        return (photos, next, !merge.hasProblems)
    }

    /// Records that a client received a first page that is stored, and therefore complete; see
    /// ``Account/preparedPageServed(_:)``.
    package func preparedPageServed(_ source: SourceID) {
        recordFirstPage(leftOut: [])
        for (account, source) in members(of: source) { account.preparedPageServed(source) }
    }

    private func recordFirstPage(leftOut: Set<UInt32>) {
        guard leftOut != self.leftOut else { return }
        self.leftOut = leftOut
        engine.emit(.changed)
    }

    /// An account in a walk.
    private typealias Participant = (
        account: Account, source: SourceID, entry: CombinedCursor.Entry
    )

    /// Returns the accounts that are in a walk, in the order in which ties are resolved.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` for a malformed cursor, ``ProviderError/staleCursor`` if an
    ///   account has another default source now.
    private func walk(through source: SourceID, from cursor: String) throws -> [Participant] {
        let members = members(of: source)
        guard !cursor.isEmpty else {
            return members.map { account, source in
                let entry = CombinedCursor.Entry(
                    login: account.record.loginNumber, source: CombinedCursor.hash(of: source))
                return (account, source, entry)
            }
        }
        let known = Dictionary(
            members.map { ($0.account.record.loginNumber, $0) },
            uniquingKeysWith: { first, _ in first })
        return try CombinedCursor(parsing: cursor, of: source).entries.compactMap { entry in
            guard let (account, source) = known[entry.login] else { return nil }
            let hash = CombinedCursor.hash(of: source)
            guard hash == entry.source || entry.position == nil else {
                throw ProviderError.staleCursor
            }
            var entry = entry
            entry.source = hash
            return (account, source, entry)
        }
    }

    private func merge(_ walk: [Participant], count: Int) async throws -> CombinedMerge {
        var merge = CombinedMerge(walk.map(\.entry), count: count)
        let elapsed = engine.ports.clock.stopwatch()
        while let requests = merge.advance() {
            let rest = max(Self.timeout - elapsed(), Self.shortTimeout)
            // The accounts are read in parallel.
            let tasks = requests.map { request in
                Task.immediate { try await read(request, of: walk[request.member], rest) }
            }
            let results = await withTaskCancellationHandler {
                var results: [Result<Page, any Error>] = []
                for task in tasks { results.append(await task.result) }
                return results
            } onCancel: {
                for task in tasks { task.cancel() }
            }
            for (request, result) in zip(requests, results) {
                try supply(result, of: walk[request.member], for: request, to: &merge)
            }
        }
        return merge
    }

    private func read(
        _ request: CombinedMerge.Request, of participant: Participant, _ timeout: Duration
    ) async throws -> Page {
        let (account, source) = (participant.account, participant.source)
        let login = account.record.loginNumber
        let isLate = lateLogins[login].map { now < $0 } ?? false
        let page = try await withTimeLimit(
            isLate ? Self.shortTimeout : timeout, engine.ports.clock
        ) { () async throws -> Page in
            do {
                return try await account.session().page(
                    source, after: request.position, count: request.count, fillsGaps: false)
            } catch ProviderError.notFound(let text) {
                // The default source may have been removed since the last check. The next page reads the new one.
                await account.checkDefaultSource()
                throw ProviderError.notFound(text)
            }
        } onTimeout: { [weak self] in
            // The request continues and fills the cache.
            if let self { lateLogins[login] = now + Self.latePeriod }
            throw ProviderError.failed(
                Message(
                    "{account} did not respond in time; try again later.",
                    ["account": account.label.excerpt]))
        }
        lateLogins[login] = nil
        return page
    }

    /// Passes the result of a read to the merge.
    ///
    /// - Throws: The errors that end a walk: a lost position, a malformed cursor, or the cancellation of the call.
    private func supply(
        _ result: Result<Page, any Error>, of participant: Participant,
        for request: CombinedMerge.Request, to merge: inout CombinedMerge
    ) throws {
        guard participant.account.record.loginNumber == participant.entry.login,
            participant.account.isLoggedIn
        else { return merge.end(request.member) }
        do {
            merge.supply(try result.get(), to: request.member)
        } catch ProviderError.staleCursor where request.position != nil {
            throw ProviderError.staleCursor
        } catch ProviderError.invalidArgument(let text) where request.position != nil {
            throw ProviderError.invalidArgument(text)
        } catch ProviderError.notFound where request.position != nil {
            // The source does not exist any more.
            merge.end(request.member)
        } catch {
            try Task.checkCancellation()
            merge.block(request.member, error)
        }
    }

    // MARK: Photos and likes

    /// Fetches the newest photos of all accounts of a source; empty for the default source.
    ///
    /// - Returns: The number of new photos.
    /// - Throws: The first error if all accounts fail.
    package func refreshFeed(_ source: String) async throws -> Int {
        let source = resolve(source)
        try check(source)
        let tasks = members(of: source).map { account, source in
            Task.immediate { try await account.refreshFeed(source.text) }
        }
        var results: [Result<Int, any Error>] = []
        for task in tasks { results.append(await task.result) }
        let new = results.compactMap { try? $0.get() }
        if new.isEmpty, let first = results.first { return try first.get() }
        return new.reduce(0, +)
    }

    /// The photos of all accounts whose like or unlike is in progress or queued.
    package var pendingLikes: [PhotoID] {
        accounts.flatMap { account in
            account.pendingLikes.map { CombinedPhotoID(account.id, $0).asPhotoID }
        }
    }

    /// The number of photos that the users of all accounts like.
    package var likeCount: Int { accounts.reduce(0) { $0 + min($1.likeCount, Int(UInt32.max)) } }

    /// Runs a call of the account that has a photo.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo in the combined account.
    ///   - body: The call. Its arguments are the account and the ID of the photo within the account.
    /// - Returns: The result of `body`.
    /// - Throws: ``EngineError/notFound(_:)``; the errors of `body`, see ``CombinedPhotoID/translating(_:)``.
    package func call<Value>(
        _ photo: String, _ body: (Account, String) async throws -> Value
    ) async throws -> Value {
        guard let id = CombinedPhotoID(photo),
            let account = accounts.first(where: { $0.id == id.account })
        else { throw EngineError.notFound("There is no photo \(photo.quoted).") }
        do {
            return try await body(account, id.photo.text)
        } catch {
            throw id.translating(error)
        }
    }
}

extension Account {
    /// True if the account has the source `memories`.
    var hasMemories: Bool { provider.info.capabilities.contains(.memories) }

    /// Returns the source of the account that is part of a combined source; nil if there is none.
    func source(in combined: SourceID) -> SourceID? {
        switch combined {
        case CombinedFeed.all: defaultSource
        case CombinedFeed.likes: photos?.likesSource
        case CombinedFeed.memories: hasMemories ? CombinedFeed.memories : nil
        default: nil
        }
    }
}
