import Accounts
import ProviderKit
import Storage
import TestSupport

@testable import Likes

/// A random history of likes: clients, the database, the cache and the service around a ``LikeQueue``.
///
/// The effects of the queue complete at random moments, and in a random order unless their order is fixed. The daemon
/// may be killed between any two steps. The records are in an SQLite database.
///
/// After each step:
///
/// - A call that is answered with `done` has the wanted state at the service, unless another client changed it.
/// - A call that is answered with `queued` has its record in the database, or a later call has replaced it.
/// - A call that a logout overtakes fails; it is never answered with `queued`.
/// - Nothing is sent again after a confirmation, unless a call, another client or a lost cache came in between.
/// - `Failed` follows a call, at most once.
/// - While no record is being written, the memory and the database agree.
/// - A photo is shown as pending only while its record exists.
///
/// At the end the service is well, and the queue has time:
///
/// - Nothing is pending, no call waits, and no record of a pending like remains.
/// - The service has the state that the last successful call wanted, unless another client changed it.
/// - A refused like leaves the state as it was at the service, and the cache shows it.
/// - The number of likes is that of the liked photos.
final class LikeSimulation {
    /// A photo, by its number; 0 and 1 are one like group.
    static let photos = (0..<6).map { PhotoID($0 < 2 ? "g.\($0)" : "p\($0)") }
    nonisolated static func group(of photo: PhotoID) -> String {
        photo.text.hasPrefix("g.") ? "g" : photo.text
    }
    static let groups = ["g", "p2", "p3", "p4", "p5"]

    /// The condition of the service.
    enum Condition: CaseIterable {
        case well, offline, failing, answersLost, rateLimited, locked, needsLogin
    }

    /// An operation that the queue has requested.
    enum Operation {
        case readRecords
        case write(LikeQueue.Write)
        case readPhoto(LikeQueue.CallID, PhotoID)
        case updateCache(LikeQueue.CacheUpdate)
        case fetchPhoto(PhotoID)
        case send(PendingLike)
    }

    struct Cached {
        var isLiked: Bool
        var confirmed = Timestamp(secondsSince1970: 0)
    }

    struct Call {
        let photo: PhotoID
        let group: String
        let isWanted: Bool?
        /// The number of the session that has the call.
        let session: Int
    }

    /// The events of a group as clients see them.
    struct History {
        /// The last state that a call was promised; nil if none is promised.
        var promised: Bool?
        /// The state that clients are to be shown at the end.
        var wanted: Bool?
        /// The call that was promised it.
        var promisedBy = 0
        /// True if another client has changed the state since the last delivery.
        var isTouched = false
        /// The state that the service confirmed, if nothing has come in between since then.
        var confirmed: Bool?
        /// True if a `Failed` may follow.
        var mayFail = false
    }

    let seed: UInt64
    var random: SeededRandom
    var now = Timestamp(secondsSince1970: 1_800_000_000)
    let tables: LikeTables
    var failures: [String] = []
    var log: [String] = []

    // The service.
    var liked: Set<String> = []
    var condition = Condition.well
    var refused: Set<String> = []
    var gone: Set<String> = []
    var hasLikes = true
    var saysDenied = false

    // The daemon.
    var cache: [PhotoID: Cached] = [:]
    var queue: LikeQueue
    var session = 0
    var databaseOperations: [Operation] = []
    var cacheOperations: [Operation] = []
    var request: Operation?
    /// The results that the queue has not been given yet.
    var results: [LikeQueue.Event] = []
    var diskIsFull = false
    var cacheIsReadOnly = false
    var hasWriteFailed = false
    var count = 0
    var isCountKnown = true

    // The clients.
    var calls: [LikeQueue.CallID: Call] = [:]
    var lastCall = 0
    var histories: [String: History] = [:]
    var isLoggedOut = false
    var isTimingOut = false
    var statistics = Statistics()

    struct Statistics {
        var done = 0, queued = 0, local = 0, failed = 0, refusals = 0, kills = 0, sent = 0
    }

    init(seed: UInt64, database: Database, number: Int) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        queue = LikeQueue(likeGroup: Self.group)
        let account = AccountID(stored: "a\(number)")
        try database.query("INSERT INTO account (id) VALUES (?)", [.text(account.text)])
        tables = LikeTables(database: database, account: account)
        for group in Self.groups {
            histories[group] = History()
            if chance(3) { liked.insert(group) }
        }
        for photo in Self.photos where !chance(5) {
            cache[photo] = Cached(isLiked: liked.contains(Self.group(of: photo)))
        }
        count = liked.count
        if chance(4) { refused.insert(pick(Self.groups)) }
        if chance(6) { gone.insert(pick(Self.groups)) }
        if chance(6) { hasLikes = false }
        saysDenied = chance(2)
    }

    // MARK: Randomness

    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    func trace(_ text: @autoclosure () -> String) { if Self.isVerbose { log.append(text()) } }
    nonisolated static let isVerbose = Simulation.seeds(2).count == 1

    func check(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition { failures.append(text()) }
    }

    // MARK: The run

    /// Runs the history and returns the failures.
    func run(steps: Int) throws -> [String] {
        handle(.loadRequested)
        for _ in 0..<steps where failures.isEmpty {
            try step()
            try checkStep()
        }
        if failures.isEmpty { try finish() }
        return failures
    }

    func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<18: call()
        case 18..<70: try progress()
        case 70..<74: condition = chance(2) ? .well : pick(Condition.allCases)
        case 74..<78: changeByOtherClient()
        case 78..<83: observe()
        case 83..<88:
            if chance(2) { handle(.retryBegan) }
            handle(.deliveryRequested)
        case 88..<91: now = now + .seconds(pick([0, 1, 20, 700, 90_000]))
        case 91: handle(.availabilityCheckDue)
        case 92..<94:
            if let id = calls.keys.sorted().first {
                isTimingOut = true
                handle(.timedOut(id))
                isTimingOut = false
            }
        case 94: diskIsFull = chance(2) && !diskIsFull
        case 95: cacheIsReadOnly = chance(2) && !cacheIsReadOnly
        case 96: try kill()
        case 97: try replaceSession()
        case 98: if chance(3) { try logOut() }
        default:
            if chance(8) { hasLikes.toggle() }
            if chance(8) { loseCached(pick(Self.photos)) }
        }
    }

    /// Removes a photo from the cache: the next session does not know if its like was confirmed.
    private func loseCached(_ photo: PhotoID) {
        cache[photo] = nil
        histories[Self.group(of: photo)]?.confirmed = nil
    }

    // MARK: Clients

    func call() {
        lastCall += 1
        let photo = pick(Self.photos)
        let group = Self.group(of: photo)
        let isWanted: Bool? = chance(3) ? nil : chance(2)
        calls[lastCall] = Call(photo: photo, group: group, isWanted: isWanted, session: session)
        histories[group]?.confirmed = nil
        histories[group]?.mayFail = true
        trace("call \(lastCall) \(photo) \(String(describing: isWanted))")
        handle(.called(lastCall, photo, isWanted))
    }

    func recordReply(
        _ id: LikeQueue.CallID, _ result: Result<LikeReply, any Error>
    ) {
        trace("  answer \(id) \(result)")
        guard let call = calls.removeValue(forKey: id) else {
            check(false, "call \(id) is answered twice")
            return
        }
        guard case .success(let answer) = result else {
            statistics.failed += 1
            return
        }
        check(!isLoggedOut, "call \(id) is answered with \(answer) after a logout")
        if let isWanted = call.isWanted {
            check(answer.isLiked == isWanted, "call \(id) is answered with the opposite")
        }
        guard var history = histories[call.group] else { return }
        switch answer.outcome {
        case .done:
            statistics.done += 1
            check(
                hasWriteFailed || isTimingOut || history.promisedBy > id
                    || calls.contains { $0.key > id && $0.value.group == call.group }
                    || !hasUntraceableRecord(of: call.group, answer.isLiked),
                "call \(id) is done, and would be sent again after a restart")
            check(
                liked.contains(call.group) == answer.isLiked || history.isTouched
                    || history.promisedBy > id,
                "call \(id) is done, but \(call.group) is not \(answer.isLiked)")
        case .queued:
            statistics.queued += 1
            let isSuperseded = calls.contains { $0.key > id && $0.value.group == call.group }
            if id > history.promisedBy, !isSuperseded {
                let records = try? tables.read()
                check(
                    ((records?.pending.map(\.like) ?? []) + (records?.local ?? [])).contains {
                        Self.group(of: $0.photo) == call.group
                    }, "call \(id) is queued without a record")
            }
        case .local:
            statistics.local += 1
            if queue.closing == nil, id > history.promisedBy,
                !calls.values.contains(where: { $0.group == call.group })
            {
                let cached = cache[call.photo]?.isLiked ?? answer.isLiked
                check(
                    queue.isLiked(call.group, cached: cached) == answer.isLiked
                        || queue.entry(call.group) != nil || history.isTouched,
                    "call \(id) is local, but not shown: cached \(cached)")
            }
        }
        // Calls of a group are decided in their order; the last one counts.
        if id > history.promisedBy {
            let isCertain =
                answer.outcome != .local && !history.isTouched
            history.promised = isCertain ? answer.isLiked : nil
            history.wanted = history.isTouched ? nil : answer.isLiked
            history.promisedBy = id
        }
        histories[call.group] = history
    }

    func changeByOtherClient() {
        let group = pick(Self.groups)
        if !liked.insert(group).inserted { liked.remove(group) }
        trace("elsewhere \(group) \(liked.contains(group))")
        histories[group]?.isTouched = true
        histories[group]?.promised = nil
        histories[group]?.wanted = nil
        histories[group]?.confirmed = nil
        isCountKnown = false
    }
}
