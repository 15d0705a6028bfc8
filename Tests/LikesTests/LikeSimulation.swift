import EngineModel
import ProviderKit
import Storage
import TestSupport

@testable import Likes

/// A random history of likes: clients that call, a service, other clients of it, a cache, two disks, and a daemon that may
/// be killed at any moment.
///
/// Every operation of a ``LikeSender`` waits until the simulation completes it. Operations of a database complete in
/// their order, requests in a random one. The rows are in an SQLite database.
///
/// After each step:
///
/// - A call that is answered with `done` has the wanted state at the service, unless another client changed it.
/// - A call that is answered with `queued` has its row in the database, or a later call has replaced it.
/// - A call that a logout overtakes fails.
/// - Nothing is sent again after a confirmation that was stored, unless a call came in between.
/// - A confirmed state is shown until another client changes it, also after a restart, with a cache that cannot be
///   written, and with answers of the service that are older.
/// - `Failed` follows a call, at most once.
/// - While nothing is being stored, the memory and the database agree.
///
/// At the end the service and the disks are well, and the worker has time:
///
/// - Nothing is pending, and no call waits.
/// - The service has the state that the last successful call wanted, unless another client changed it, and it is shown.
/// - After a refresh that a client requests, the states of the service are shown, except local likes.
@MainActor
final class LikeSimulation {
    /// The photos; the first two are one like group.
    nonisolated static let photos = (0..<6).map { PhotoID($0 < 2 ? "g.\($0)" : "p\($0)") }
    nonisolated static func group(of photo: PhotoID) -> String {
        photo.text.hasPrefix("g.") ? "g" : photo.text
    }
    static let groups = ["g", "p2", "p3", "p4", "p5"]

    /// The condition of the service.
    enum Condition: CaseIterable {
        case well, offline, failing, responsesLost, rateLimited, locked, needsLogin
    }

    struct Call {
        let photo: PhotoID
        let isWanted: Bool?
        var group: String { LikeSimulation.group(of: photo) }
    }

    /// The events of a like group as clients see them.
    struct History {
        /// The state that the service is promised to have; nil if none is promised.
        var promised: Bool?
        /// The last call that was promised a state.
        var promisedBy = 0
        /// True if another client has changed the state since the last request.
        var isTouched = false
        /// The state that the service confirmed, and that is to be shown until a call or another client changes it.
        var confirmed: Bool?
        /// True if a `Failed` may follow.
        var mayFail = false
        /// The state before the last change at the service, which lists of the service may still have.
        var listed: (isLiked: Bool, until: Timestamp)?
    }

    /// The outcomes that the histories are to reach.
    enum Event: CaseIterable { case done, queued, local, failed, refusals, kills, stale }

    let seed: UInt64
    var random: SeededRandom
    var now = Timestamp(secondsSince1970: 1_800_000_000)
    let table: OutboxTable
    var failures: [String] = []
    var log: [String] = []
    var counts: [Event: Int] = [:]

    // The service.
    var liked: Set<String> = []
    var condition = Condition.well
    var refused: Set<String> = []
    var gone: Set<String> = []
    var hasLikes = true
    let saysDenied: Bool

    // The daemon.
    var cache: [PhotoID: Bool] = [:]
    lazy var session = Session(self)
    var isDataDiskFull = false
    var isCacheDiskFull = false
    /// True if a write of rows failed since the start: the rows in the database may be older.
    var hasWriteFailed = false

    // The clients.
    var calls: [Int: Call] = [:]
    var lastCall = 0
    var histories: [String: History] = [:]

    init(seed: UInt64, database: Database, number: Int) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        let account = AccountID(stored: "a\(number)")
        table = OutboxTable(database: database, account: account)
        saysDenied = seed % 2 == 0
        for group in Self.groups {
            histories[group] = History()
            if chance(3) { liked.insert(group) }
        }
        for photo in Self.photos where !chance(5) {
            cache[photo] = liked.contains(Self.group(of: photo))
        }
        if chance(4) { refused.insert(pick(Self.groups)) }
        if chance(6) { gone.insert(pick(Self.groups)) }
        if chance(6) { hasLikes = false }
    }

    // MARK: Randomness

    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    func trace(_ text: @autoclosure () -> String) { if Self.isVerbose { log.append(text()) } }
    static let isVerbose = Simulation.seeds(2).count == 1

    func check(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition { failures.append(text()) }
    }

    // MARK: The run

    /// Runs the history and returns the failures.
    func run(steps: Int) async throws -> [String] {
        session.sender.start()
        await settle()
        for _ in 0..<steps where failures.isEmpty {
            try await step()
            await settle()
            try checkStep()
        }
        if failures.isEmpty { try await finish() }
        session.end()
        await settle()
        return failures
    }

    /// Lets all tasks continue until each waits for an operation.
    ///
    /// All tasks run on the main queue, in the order in which they become ready.
    func settle() async { for _ in 0..<24 { await Task.yield() } }

    private func step() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<18: call(pick(Self.photos), chance(3) ? nil : chance(2))
        // Toggles in quick succession.
        case 18..<21:
            let photo = pick(Self.photos)
            for _ in 0..<3 { call(photo, nil) }
        case 21..<68: session.progress(&random)
        case 68..<73: condition = chance(2) ? .well : pick(Condition.allCases)
        case 73..<77: changeByOtherClient()
        case 77..<83: refresh(isExplicit: chance(4))
        case 83..<88: session.sender.deliver()
        case 88..<91: now = now + .seconds(pick([0, 1, 20, 700, 90_000]))
        case 91: session.sender.checkAvailabilityAgain()
        case 92..<94: if let call = session.sender.calls.first { session.sender.timedOut(call) }
        case 94: isDataDiskFull = chance(2) && !isDataDiskFull
        case 95: isCacheDiskFull = chance(2) && !isCacheDiskFull
        case 96: try await kill()
        case 97: await replaceSession()
        case 98: if chance(3) { await logOut() }
        default:
            if chance(8) { hasLikes.toggle() }
            if chance(8) { cache[pick(Self.photos)] = nil }
        }
    }

    // MARK: Clients

    func call(_ photo: PhotoID, _ isWanted: Bool?) {
        lastCall += 1
        let (id, group) = (lastCall, Self.group(of: photo))
        calls[id] = Call(photo: photo, isWanted: isWanted)
        histories[group]?.confirmed = nil
        histories[group]?.mayFail = true
        trace("call \(id) \(photo) \(String(describing: isWanted))")
        let session = session
        Task {
            do {
                let reply = try await session.sender.change(photo, isWanted)
                recordReply(id, reply, session)
            } catch {
                trace("  reply \(id) \(error)")
                guard !session.isDead else { return }
                calls[id] = nil
                counts[.failed, default: 0] += 1
            }
        }
    }

    private func recordReply(_ id: Int, _ reply: LikeReply, _ session: Session) {
        trace("  reply \(id) \(reply)")
        guard !session.isDead else { return }
        guard let call = calls.removeValue(forKey: id), var history = histories[call.group] else {
            return check(false, "call \(id) is answered twice, or after a logout")
        }
        if let isWanted = call.isWanted {
            check(reply.isLiked == isWanted, "call \(id) is answered with the opposite")
        }
        let isLast = !calls.contains { $0.key > id && $0.value.group == call.group }
        switch reply.outcome {
        case .done:
            counts[.done, default: 0] += 1
            check(
                liked.contains(call.group) == reply.isLiked || history.isTouched
                    || history.promisedBy > id,
                "call \(id) is done, but \(call.group) is not \(reply.isLiked)")
            if isLast, id > history.promisedBy, !history.isTouched {
                history.confirmed = reply.isLiked
            }
        case .queued:
            counts[.queued, default: 0] += 1
            if isLast, id > history.promisedBy {
                let rows = try? table.rows()
                check(
                    rows?.contains { Self.group(of: $0.photo) == call.group } == true,
                    "call \(id) is queued without a row")
            }
        case .local: counts[.local, default: 0] += 1
        }
        // Calls of a group are decided in their order; the last one counts.
        if id > history.promisedBy {
            history.promised = reply.outcome == .local || history.isTouched ? nil : reply.isLiked
            history.promisedBy = id
        }
        histories[call.group] = history
    }

    private func changeByOtherClient() {
        let group = pick(Self.groups)
        setLiked(group, !liked.contains(group))
        trace("elsewhere \(group) \(liked.contains(group))")
        histories[group]?.isTouched = true
        histories[group]?.promised = nil
        histories[group]?.confirmed = nil
        histories[group]?.listed = nil
    }

    // MARK: The service

    private func setLiked(_ group: String, _ isLiked: Bool) {
        let before = liked.contains(group)
        guard before != isLiked else { return }
        if isLiked { liked.insert(group) } else { liked.remove(group) }
        histories[group]?.listed = chance(2) ? (before, now + .seconds(599)) : nil
    }

    /// Returns the state in lists of the service, which may be older than a request.
    private func listed(_ group: String) -> Bool {
        guard let listed = histories[group]?.listed, now < listed.until, !chance(4) else {
            // Once the lists are new, they stay so.
            histories[group]?.listed = nil
            return liked.contains(group)
        }
        counts[.stale, default: 0] += 1
        return listed.isLiked
    }

    var error: (any Error)? {
        switch condition {
        case .offline: HTTPError.unreachable("offline")
        case .failing: ProviderError.failed("503")
        case .rateLimited: ProviderError.rateLimited(until: nil)
        case .locked: SecretStoreError.locked("locked")
        case .needsLogin: ProviderError.unauthorized
        case .well, .responsesLost: nil
        }
    }

    /// Executes a request to like at the service.
    func execute(_ photo: PhotoID, _ isWanted: Bool) -> Result<Int?, any Error> {
        let group = Self.group(of: photo)
        if let error { return .failure(error) }
        guard hasLikes else {
            return .failure(
                saysDenied ? ProviderError.denied("no likes") : ProviderError.notFound("no likes"))
        }
        if gone.contains(group) { return .failure(ProviderError.notFound("gone")) }
        if refused.contains(group) { return .failure(ProviderError.refused("422")) }
        check(
            histories[group]?.confirmed != isWanted,
            "\(group) \(isWanted) is sent again after it was confirmed")
        setLiked(group, isWanted)
        histories[group]?.isTouched = false
        if condition == .responsesLost { return .failure(HTTPError.unreachable("lost")) }
        return .success(nil)
    }

    /// Executes a request for a photo at the service.
    func fetch(_ photo: PhotoID) -> Result<Photo, any Error> {
        if let error { return .failure(error) }
        let group = Self.group(of: photo)
        guard !gone.contains(group) else {
            cache[photo] = nil
            return .failure(ProviderError.notFound("gone"))
        }
        if cache[photo] == nil, !isCacheDiskFull {
            let overlay = session.sender.outbox.overlay(for: session.sender.outbox.request, at: now)
            cache[photo] = overlay?(photo) ?? liked.contains(group)
        }
        return .success(Self.photo(photo, cache[photo] ?? liked.contains(group)))
    }

    nonisolated static func photo(_ id: PhotoID, _ isLiked: Bool) -> Photo {
        var photo = Photo(id: id)
        photo.isLiked = isLiked
        return photo
    }

    /// Requests the states of some photos, and stores the answer in the cache.
    func refresh(isExplicit: Bool, of groups: Set<String>? = nil) {
        let (session, start) = (session, now)
        var request = session.sender.outbox.request
        request.isExplicit = isExplicit
        let groups = groups ?? Set(Self.groups.filter { _ in chance(2) })
        guard session.sender.isLoaded else { return }
        Task {
            // The service answers at some time, and the answer arrives at a later one.
            guard await session.wait(.request) else { return }
            guard condition == .well else { return }
            var states: [PhotoID: Bool] = [:]
            for photo in Self.photos where groups.contains(Self.group(of: photo)) {
                let group = Self.group(of: photo)
                guard !gone.contains(group) else { continue }
                states[photo] =
                    isExplicit ? liked.contains(group) : states[sibling: photo] ?? listed(group)
            }
            guard await session.wait(.request), !isCacheDiskFull else { return }
            // Requests have a time limit.
            guard now < start + .seconds(600) else { return }
            trace("  refreshed \(states) explicit \(isExplicit)")
            let overlay = session.sender.outbox.overlay(for: request, at: now)
            for (photo, isLiked) in states { cache[photo] = overlay?(photo) ?? isLiked }
            await session.sender.reconcile(states, of: request)
        }
    }
}

extension [PhotoID: Bool] {
    /// The state of another photo of the like group.
    fileprivate subscript(sibling photo: PhotoID) -> Bool? {
        first { LikeSimulation.group(of: $0.key) == LikeSimulation.group(of: photo) }?.value
    }
}
