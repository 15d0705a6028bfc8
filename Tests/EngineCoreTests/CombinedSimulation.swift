import EngineModel
import ProviderKit
import TestSupport

@testable import EngineCore

/// A random history of a walk through the combined feed: accounts that photos arrive at and leave, that fail, log out
/// and log in, and a client that follows the cursors.
///
/// The daemon is restarted between any two pages: only the cursor remains. A page is compared with that of a reference
/// model, which knows all photos:
///
/// - The next photo is the newest among the next photos of the accounts that can be read; see ``CombinedMerge``.
/// - No photo is returned twice, and none of an account that was not logged in all the time.
/// - A page is empty only at the end, or if the accounts that go on cannot be read.
/// - At the end, every photo was returned that existed when the walk began and was not removed, unless its account
///   could never be read or logged out.
struct CombinedSimulation {
    /// A photo of an account.
    struct Photo {
        let id: PhotoID
        let created: Int64?
        /// The number of changes of the account before the photo arrived.
        let born: Int
        var isRemoved = false
        /// The position: a photo with a greater number is nearer to the top.
        let order: Int
    }

    /// An account with all photos that it ever had, the highest first.
    struct Account {
        var login: UInt32
        var isLoggedIn = true
        var photos: [Photo] = []
        var generation = 0
        /// False for a session that cannot state the cursors in a page.
        var hasCursors = true
        /// The account cannot be read below this position; nil if it can be read completely.
        var unreadableBelow: Int?
        /// The number of photos that were read.
        var readCount = 0

        /// Returns the photos that a walk has not passed, without those that cannot be read now.
        func visible(after position: Position?) -> [Photo] {
            photos.filter { photo in
                !photo.isRemoved && photo.born <= position?.generation ?? .max
                    && photo.order < position?.order ?? .max
            }
        }

        func isReadable(_ order: Int) -> Bool { unreadableBelow.map { order >= $0 } ?? true }
    }

    /// A cursor of an account.
    struct Position: Equatable {
        let generation: Int
        let order: Int

        var text: String { "\(generation).\(order)" }

        init(generation: Int, order: Int) {
            self.generation = generation
            self.order = order
        }

        init?(_ text: String) {
            let parts = text.split(separator: ".").compactMap { Int($0) }
            guard parts.count == 2 else { return nil }
            self.init(generation: parts[0], order: parts[1])
        }
    }

    /// An account in the reference model of the walk.
    struct Walker {
        let account: Int
        let login: UInt32
        var position: Position?
        var created: Int64?
        /// True if the account has contributed or could be read.
        var hasJoined = false
        var isAtEnd = false
    }

    static let source = SourceID("all")
    let seed: UInt64
    var random: SeededRandom
    var accounts: [Account] = []
    var nextOrder = 1_000_000
    var nextPhoto = 0
    var nextLogin: UInt32 = 1
    var log: [String] = []

    // The walk.
    var cursor = ""
    var walkers: [Walker] = []
    var expected: Set<PhotoID> = []
    var returned: Set<PhotoID> = []
    var counts: [Event: Int] = [:]

    /// The cases that the histories are to reach.
    enum Event: CaseIterable { case pages, leftOut, joined, problems, logouts, photos }

    struct ReadFailure: Error {}

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        for _ in 0..<Int.random(in: 1...6, using: &random) { logIn() }
    }

    // MARK: History

    /// Runs the history.
    ///
    /// - Returns: The description of the first failure; nil if there is none.
    mutating func run() -> String? {
        do {
            for _ in 0..<200 {
                for _ in 0..<Int.random(in: 0...4, using: &random) { change() }
                if try page() { return nil }
            }
            // At the end, all accounts can be read.
            for index in accounts.indices { accounts[index].unreadableBelow = nil }
            for _ in 0..<2000 where try page() { return nil }
            throw Violation("The walk has no end.")
        } catch {
            return (log.suffix(60) + ["seed \(seed): \(error)"]).joined(separator: "\n")
        }
    }

    private mutating func chance(_ number: Int) -> Bool {
        Int.random(in: 0..<number, using: &random) == 0
    }

    private mutating func logIn() {
        var account = Account(login: nextLogin, hasCursors: !chance(5))
        nextLogin += 1
        let hasDates = !chance(6)
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            arrive(at: &account, hasDates: hasDates)
        }
        if chance(3) { account.unreadableBelow = chance(2) ? .max : someOrder(of: account) }
        accounts.append(account)
    }

    private mutating func someOrder(of account: Account) -> Int {
        account.photos.randomElement(using: &random)?.order ?? .max
    }

    private mutating func arrive(at account: inout Account, hasDates: Bool = true) {
        account.generation += 1
        nextOrder += 1
        nextPhoto += 1
        let created =
            hasDates && !chance(8)
            ? Int64.random(in: 0...40, using: &random) + Int64(nextPhoto) / 3 : nil
        account.photos.insert(
            Photo(
                id: PhotoID("p\(nextPhoto)"), created: created, born: account.generation,
                order: nextOrder), at: 0)
    }

    private mutating func change() {
        guard let index = accounts.indices.randomElement(using: &random) else { return logIn() }
        var account = accounts[index]
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<6: arrive(at: &account)
        case 6..<9:
            guard let photo = account.photos.indices.randomElement(using: &random) else { return }
            account.photos[photo].isRemoved = true
        case 9..<11: account.unreadableBelow = chance(2) ? .max : someOrder(of: account)
        case 11..<18: account.unreadableBelow = nil
        case 18:
            log.append("account \(index) logs out")
            account.isLoggedIn = false
            counts[.logouts, default: 0] += 1
        default:
            guard !account.isLoggedIn else { return logIn() }
            account.isLoggedIn = true
            account.login = nextLogin
            nextLogin += 1
        }
        accounts[index] = account
    }

    // MARK: The walk

    private mutating func begin() {
        (walkers, expected) = ([], [])
        for (index, account) in accounts.enumerated() where account.isLoggedIn {
            walkers.append(Walker(account: index, login: account.login))
            for photo in account.photos where !photo.isRemoved { expected.insert(photo.id) }
        }
    }

    /// Reads a page.
    ///
    /// - Returns: True at the end of the walk.
    private mutating func page() throws -> Bool {
        if cursor.isEmpty { begin() }
        let count = Int.random(in: 1...20, using: &random)
        let before = walkers
        let model = modelPage(count)
        let entries =
            try cursor.isEmpty
            ? firstEntries() : CombinedCursor(parsing: cursor, of: Self.source).entries
        let members = entries.compactMap { entry in
            accounts.firstIndex { $0.isLoggedIn && $0.login == entry.login }.map {
                (index: $0, entry: entry)
            }
        }
        var merge = CombinedMerge(members.map(\.entry), count: count)
        var rounds = 0
        while let requests = merge.advance() {
            rounds += 1
            try ensure(rounds < 500, "The merge reads without end.")
            for request in requests {
                try ensure(1...count ~= request.count, "A read of \(request.count) photos.")
                do {
                    let page = try read(members[request.member].index, request)
                    merge.supply(page, to: request.member)
                } catch is ReadFailure {
                    merge.block(request.member, ReadFailure())
                }
            }
        }
        let ids = merge.items.map(\.photo.id)
        log.append("page of \(count) after \(cursor): \(ids)")
        try ensure(ids == model.ids, "\(ids) instead of \(model.ids)")
        for id in ids { try ensure(returned.insert(id).inserted, "\(id) was returned twice.") }
        try ensure(
            (merge.problem != nil) == model.isStopped,
            "The page has \(merge.problem == nil ? "no " : "an ")error.")
        counts[.pages, default: 0] += 1
        counts[.photos, default: 0] += ids.count
        counts[.leftOut, default: 0] += merge.leftOut.count
        if model.isStopped {
            counts[.problems, default: 0] += 1
            // The client has the same cursor as before.
            walkers = before
            return false
        }
        guard let next = merge.cursor else {
            try checkEnd()
            return true
        }
        try ensure(!ids.isEmpty, "The page is empty and not the last one.")
        cursor = try next.text(of: Self.source)
        try ensure(cursor.utf8.count <= 18 + 60 * accounts.count, "\(cursor) is long.")
        return false
    }

    private func firstEntries() -> [CombinedCursor.Entry] {
        accounts.filter(\.isLoggedIn).map {
            CombinedCursor.Entry(login: $0.login, source: 1, created: nil, position: nil)
        }
    }

    private mutating func read(_ index: Int, _ request: CombinedMerge.Request) throws
        -> Page
    {
        let account = accounts[index]
        let position = request.position.flatMap(Position.init)
        let rest = account.visible(after: position)
        let count = account.hasCursors ? request.count : 1
        let photos = rest.prefix(count).prefix { account.isReadable($0.order) }
        guard !photos.isEmpty || rest.isEmpty && account.unreadableBelow == nil else {
            throw ReadFailure()
        }
        accounts[index].readCount += photos.count
        let generation = position?.generation ?? account.generation
        let start = Position(generation: generation, order: position?.order ?? .max)
        let cursors =
            [account.hasCursors ? start.text : request.position]
            + photos.map { Position(generation: generation, order: $0.order).text }
        return Page(
            photos: photos.map { photo in
                var made = ProviderKit.Photo(id: photo.id)
                made.created = photo.created.map { Timestamp(secondsSince1970: $0) }
                return made
            }, hasMore: photos.count < rest.count || account.unreadableBelow != nil
        ) { cursors[$0] }
    }

    private func checkEnd() throws {
        for walker in walkers where walker.hasJoined {
            let account = accounts[walker.account]
            guard account.login == walker.login, account.isLoggedIn else { continue }
            for photo in account.photos
            where !photo.isRemoved && expected.contains(photo.id) && !returned.contains(photo.id) {
                throw Violation("\(photo.id) is missing.")
            }
        }
    }

    // MARK: Reference model

    /// Returns the page that the rules demand, photo by photo.
    private mutating func modelPage(_ count: Int) -> (ids: [PhotoID], isStopped: Bool) {
        walkers.removeAll { walker in
            walker.isAtEnd || !accounts[walker.account].isLoggedIn
                || accounts[walker.account].login != walker.login
        }
        var ids: [PhotoID] = []
        // The accounts whose next photo is not known.
        var blocked: Set<Int> = []
        while true {
            var heads: [(walker: Int, photo: Photo, created: Int64?)] = []
            for index in walkers.indices where !blocked.contains(walkers[index].account) {
                let account = accounts[walkers[index].account]
                guard let photo = account.visible(after: walkers[index].position).first else {
                    if account.unreadableBelow != nil {
                        blocked.insert(walkers[index].account)
                    } else {
                        walkers[index].isAtEnd = true
                        walkers[index].hasJoined = true
                    }
                    continue
                }
                guard account.isReadable(photo.order) else {
                    blocked.insert(walkers[index].account)
                    continue
                }
                if !walkers[index].hasJoined, !cursor.isEmpty { counts[.joined, default: 0] += 1 }
                walkers[index].hasJoined = true
                if walkers[index].position == nil, account.hasCursors {
                    walkers[index].position = Position(generation: account.generation, order: .max)
                }
                heads.append((index, photo, photo.created ?? walkers[index].created))
            }
            guard ids.count < count, let first = heads.first else { break }
            let newest = heads.compactMap(\.created).max()
            let head = heads.first { $0.created == nil || $0.created == newest } ?? first
            ids.append(head.photo.id)
            let account = accounts[walkers[head.walker].account]
            walkers[head.walker].position = Position(
                generation: walkers[head.walker].position?.generation ?? account.generation,
                order: head.photo.order)
            if let created = head.created { walkers[head.walker].created = created }
            // The following account is first in the next tie.
            walkers = Array(walkers[(head.walker + 1)...] + walkers[...head.walker])
        }
        let isStopped =
            ids.isEmpty && walkers.contains { $0.hasJoined && blocked.contains($0.account) }
        return (ids, isStopped)
    }
}
