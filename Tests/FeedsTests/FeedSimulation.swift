import EngineModel
import ProviderKit
import Storage
import TestSupport

@testable import Feeds

/// A history of a feed: a service that changes, and a daemon that refreshes, serves walks and restarts.
///
/// It drives the tables of the cache on a real database. The responses of background refreshes arrive later than they
/// are made. After each step it checks the guarantees of the interface; at the end, it checks that the cache shows the
/// photos of the service.
struct FeedSimulation {
    /// The kind of the service and the changes that a history may contain.
    struct Profile {
        let name: String
        let kind: SimulatedList.Kind
        var moves = false
        var pins = false
        var hasFaults = false
        var bounds = FeedTables.Bounds()
        /// True if a walk misses nothing. A walk may miss pages that are counted from the top and photos that are
        /// moved; later walks show them.
        var isExact: Bool { kind != .counted && !moves }
        /// True if cursors may become stale.
        var mayBeStale: Bool { kind == .counted || bounds.source < 100 || bounds.bytes < 1 << 20 }
    }

    static let profiles = [
        Profile(name: "keys", kind: .keyed),
        Profile(
            name: "keys and small bounds", kind: .keyed,
            bounds: FeedTables.Bounds(source: 12, walk: 80, dead: 6)),
        Profile(name: "keys and faults", kind: .keyed, hasFaults: true),
        Profile(name: "lasting tokens", kind: .lasting),
        Profile(name: "lasting tokens and a pinned photo", kind: .lasting, pins: true),
        Profile(name: "lasting tokens and moves", kind: .lasting, moves: true),
        Profile(name: "counted pages", kind: .counted),
        Profile(name: "counted pages and moves", kind: .counted, moves: true, pins: true),
        Profile(name: "keys and few bytes", kind: .keyed, bounds: fewBytes),
        Profile(name: "lasting tokens and few bytes", kind: .lasting, bounds: fewBytes),
        Profile(name: "counted pages and few bytes", kind: .counted, bounds: fewBytes),
    ]

    /// About 35 photos.
    private static let fewBytes = FeedTables.Bounds(dead: 6, bytes: 16_000)
    /// The maximum size of a photo with its entry and its mark.
    private static let photoBytes = 500

    /// One step of a history. Its numbers select among the existing photos, walks and cursors.
    struct Step: CustomStringConvertible {
        enum Action: CaseIterable {
            case arrive, arriveSeveral, text, late, boost, removeEntry, delete, hide, unhide, move
            case emptyResponse, fault
            case refresh, walk, read, readAgain, deliver, advance, restart
        }

        let action: Action
        let first: UInt64
        let second: UInt64

        var description: String { "\(action) \(first % 1000) \(second % 1000)" }
    }

    private struct Walk {
        var place: FeedPosition?
        var isDone = false
        var found: [Int] = []
        /// The photos that it must show.
        var expected: Set<Int> = []
        var began = 0
        /// The key of the last photo.
        var key = Int.max
    }

    private struct Request {
        let part: FeedOrder.Part?
        let generation: Int64?
        let responses: [SimulatedList.Response]
    }

    let profile: Profile
    private let tables: FeedTables
    private let account = AccountID(stored: "service_ada")
    private let source = SourceID("new")
    private var service: SimulatedList
    private var now = Timestamp(secondsSince1970: 1_700_000_000)
    private var walks: [Walk] = []
    /// Earlier states of walks, to read again.
    private var past: [Walk] = []
    private var top: Request?
    private var part: Request?
    private var isEmptyResponseDue = false
    private var fault: (kind: SimulatedList.Fault, number: UInt64)?
    /// True if a page had another order than that of its keys.
    private var isDisordered = false
    /// The time of the last request for the end, since the start of the daemon.
    private var endRequested: Timestamp?
    /// The photos that the daemon received, by the keys of their entries, and the keys that its pages covered.
    private var shownOnce: [Int: Set<Int>] = [:]
    private var covered: [ClosedRange<Int>] = []
    private(set) var requests = 0

    init(_ profile: Profile, _ database: Database, pageSize: Int, count: Int) {
        self.profile = profile
        var bounds = profile.bounds
        bounds.piece = 2
        tables = FeedTables(database: database, account: account, bounds: bounds)
        service = SimulatedList(profile.kind, pageSize: pageSize, count: count)
    }

    // MARK: Histories

    /// Runs the history of a seed.
    ///
    /// - Returns: A description of the failure, with the shortest history that has it; nil if there is none.
    static func run(seed: UInt64, _ database: Database) -> String? {
        var random = SeededRandom(seed: seed)
        let profile = profiles[Int.random(in: 0..<profiles.count, using: &random)]
        // Without keys, only the photos of a page determine its position.
        let pageSize = Int.random(in: profile.kind == .keyed ? 1...6 : 4...9, using: &random)
        let count = Int.random(in: 0...24, using: &random)
        var steps: [Step] = []
        for _ in 0..<Int.random(in: 5...40, using: &random) {
            steps.append(
                Step(
                    action: Step.Action.allCases.randomElement(using: &random) ?? .read,
                    first: random.next(), second: random.next()))
        }
        func attempt(_ steps: [Step]) -> String? {
            var simulation = FeedSimulation(profile, database, pageSize: pageSize, count: count)
            defer {
                for table in ["source", "photo"] { try? database.query("DELETE FROM \(table)") }
            }
            do {
                for (index, step) in steps.enumerated() { try simulation.perform(step, index + 1) }
                try simulation.checkFinalState()
                return nil
            } catch {
                return "\(error)"
            }
        }
        guard var failure = attempt(steps) else { return nil }
        var index = steps.count
        while index > 0 {
            index -= 1
            var fewer = steps
            fewer.remove(at: index)
            if let other = attempt(fewer) {
                (steps, failure) = (fewer, other)
                index = min(index, steps.count)
            }
        }
        return """
            seed \(seed), \(profile.name), pages of \(pageSize), \(count) photos: \(failure)
            \(steps.map(\.description).joined(separator: "\n"))
            """
    }

    private mutating func perform(_ step: Step, _ number: Int) throws {
        service.step = number
        let (first, second) = (step.first, step.second)
        switch step.action {
        case .arrive: service.arrive(photos: 1, below: profile.pins ? 1 : 0)
        case .arriveSeveral:
            for _ in 0...Int(first % 12) {
                let count = profile.kind == .keyed && second % 3 == 0 ? 3 : 1
                service.arrive(photos: count, below: profile.pins ? 1 : 0)
            }
        case .text:
            for _ in 0...Int(first % 4) { service.arrive(photos: 0, below: profile.pins ? 1 : 0) }
        case .late where !profile.pins && !profile.moves:
            service.arriveLate(first)
        case .boost where profile.kind != .counted && !profile.pins: service.boost(first)
        case .removeEntry: service.removeEntry(first)
        case .delete: service.delete(first)
        case .hide: service.hide(first)
        case .unhide:
            for key in shownOnce.keys { shownOnce[key]?.subtract(service.hidden) }
            service.unhide()
        case .move where profile.moves: service.move(first, to: second)
        case .emptyResponse where number == 7: isEmptyResponseDue = true
        case .fault where profile.hasFaults:
            let kinds = SimulatedList.Fault.allCases
            fault = (kinds[Int(first % UInt64(kinds.count))], second)
        case .refresh: try refresh()
        case .walk:
            walks.append(Walk())
            try read(walks.count - 1, count: 1 + Int(first % 9))
        case .read where !walks.isEmpty:
            try read(Int(first % UInt64(walks.count)), count: 1 + Int(second % 9))
        case .readAgain where !past.isEmpty:
            walks.append(past[Int(first % UInt64(past.count))])
            try read(walks.count - 1, count: 1 + Int(second % 9))
        case .deliver: try deliver(isTop: first % 2 == 0)
        case .restart:
            // The requests in progress are lost.
            (top, part) = (nil, nil)
            endRequested = nil
        case .advance: now = now + .seconds(Int64(first % 900))
        default: break
        }
    }

    // MARK: The daemon

    /// Returns the pages that the service sends for a request, up to the first with photos.
    private mutating func fetch(_ token: String?) -> [SimulatedList.Response] {
        var responses = [service.response(token, fault?.kind, fault?.number ?? 0)]
        if responses[0].fault != nil { fault = nil }
        if [.unordered, .repeats].contains(responses[0].fault) { isDisordered = true }
        requests += 1
        while responses.count < 8, responses[responses.count - 1].page.photos.isEmpty,
            let next = responses[responses.count - 1].page.next
        {
            responses.append(service.response(next))
            requests += 1
        }
        return responses
    }

    private mutating func store(_ request: Request) throws -> FeedTables.Merge {
        var page = request.responses[request.responses.count - 1].page
        let known = try tables.source(source)
        let hasBelow =
            try known.map { try tables.order(of: $0.key).hasEntries(below: request.part?.key) }
            ?? false
        if isEmptyResponseDue, hasBelow {
            isEmptyResponseDue = false
            page = RemotePage([])
        } else {
            if page.next == nil { endRequested = now }
            for response in request.responses {
                if response.fault == .falseEnd, let lowest = response.shown.keys.min() {
                    service.lose { $0 < lowest }
                    for key in shownOnce.keys where key < lowest { shownOnce[key] = nil }
                }
                if response.fault == .partial {
                    service.lose { response.covered.contains($0) && response.shown[$0] == nil }
                }
                shownOnce.merge(response.shown) { $0.union($1) }
                covered.append(response.covered)
            }
        }
        var arrival = FeedTables.Arrival(
            page: page, part: request.part, isExact: false,
            hasStablePageTokens: profile.kind != .counted, generation: request.generation, now: now)
        // As the daemon does, with one transaction for each piece.
        for photo in page.photos where page.photos.count > 2 {
            arrival.prepared.formUnion(try tables.photos.prepare([photo], arrival.overlay))
        }
        let merge = try tables.store(arrival, in: source)
        _ = try tables.photos.sweep(merge.unswept)
        try checkBytes()
        return merge
    }

    /// Checks the sums of sizes, and the limit of an account.
    private func checkBytes() throws {
        let database = tables.database
        let sum = try database.first(
            """
            SELECT (SELECT coalesce(sum(bytes), 0) FROM photo)
                + (SELECT coalesce(sum(bytes), 0) FROM entry)
                + (SELECT coalesce(sum(bytes), 0) FROM mark)
            """
        ) { Int($0.integer(0)) }
        let bytes = try tables.bytes()
        try ensure(bytes == sum, "the cache has \(sum ?? 0) bytes, and counts \(bytes)")
        try ensure(bytes <= profile.bounds.bytes, "the cache has \(bytes) bytes")
    }

    private mutating func refresh() throws {
        let request = top ?? Request(part: nil, generation: nil, responses: fetch(nil))
        top = nil
        _ = try store(request)
    }

    private mutating func deliver(isTop: Bool) throws {
        if isTop, top != nil { try refresh() }
        if !isTop, let request = part {
            part = nil
            _ = try store(request)
        }
    }

    private func prepared(
        _ part: FeedOrder.Part, after fetched: Timestamp? = nil
    ) -> FeedOrder.Part {
        var part = part
        part.isDoubtful =
            profile.kind == .counted
            && (isOld(part.received, after: 600) || fetched.map { part.received < $0 } == true)
        return part
    }

    private func isOld(_ time: Timestamp, after seconds: Int64) -> Bool {
        now >= time + .seconds(seconds)
    }

    /// Reads a page as ``CachedFeed`` does.
    ///
    /// - Returns: The photos and the next position; nil if the position was lost.
    private mutating func page(
        _ place: FeedPosition?, count: Int
    ) throws -> (photos: [Int], next: FeedPosition?)? {
        var isRead = false
        var isEndChecked = false
        for _ in 0..<60 {
            guard let state = try tables.source(source) else {
                if place != nil { return nil }
                try refresh()
                isRead = true
                continue
            }
            if let place, !state.holds(place) { return nil }
            let slice = try tables.order(of: state.key).slice(
                in: state.generation, below: place, count: count,
                fresh: Timestamp(secondsSince1970: now.secondsSince1970 - 299)...now)
            if !isRead {
                isRead = true
                if place == nil, top == nil, isOld(state.fetched, after: 300) {
                    top = Request(part: nil, generation: nil, responses: fetch(nil))
                }
                if let outdated = slice.outdated, part == nil {
                    part = Request(
                        part: prepared(outdated, after: state.fetched),
                        generation: state.generation,
                        responses: fetch(outdated.token))
                }
            }
            let photos = slice.photos.compactMap { Int($0.photo.id.text.dropFirst()) }
            let next = slice.keys.last.map {
                FeedPosition(
                    epoch: state.epoch, generation: place?.generation ?? state.generation, key: $0)
            }
            if slice.hasMore { return (photos, next) }
            if let gap = slice.gap {
                guard photos.count < count else { return (photos, next) }
                let gap = prepared(gap)
                if gap.isDoubtful, isOld(state.fetched, after: 600) { try refresh() }
                let request = Request(part: gap, generation: nil, responses: fetch(gap.token))
                if try store(request).isLost {
                    return photos.isEmpty ? nil : (photos, next)
                }
            } else {
                if isEndChecked || endRequested.map({ !isOld($0, after: 3600) }) ?? false {
                    return (photos, nil)
                }
                isEndChecked = true
                endRequested = now
                if let lowest = slice.lowest {
                    let request = Request(
                        part: prepared(lowest, after: state.fetched),
                        generation: state.generation, responses: fetch(lowest.token))
                    _ = try store(request)
                } else {
                    top = nil
                    try refresh()
                }
            }
        }
        throw Violation("a page sends requests without end")
    }

    // MARK: The guarantees

    private mutating func read(_ index: Int, count: Int) throws {
        var walk = walks[index]
        guard !walk.isDone else { return }
        let isFirst = walk.place == nil
        if isFirst { walk.began = service.step }
        if isFirst { walk.expected = try expected() }
        guard let (photos, next) = try page(walk.place, count: count) else {
            try ensure(profile.mayBeStale, "a cursor is stale")
            walks[index].isDone = true
            return
        }
        if photos.isEmpty, next != nil { throw Violation("a page is empty") }
        for photo in photos {
            try ensure(!walk.found.contains(photo), "a walk shows photo \(photo) twice")
            walk.found.append(photo)
            // Without keys, the position of a boosted photo is known only after the last change.
            guard profile.kind == .keyed, !isDisordered else { continue }
            let keys = service.allKeys[photo] ?? []
            // Photos of one entry have its key.
            guard let key = keys.filter({ $0 <= walk.key }).max() else {
                throw Violation("a walk shows photo \(photo) out of order")
            }
            walk.key = key
        }
        walk.place = next
        walk.isDone = next == nil
        if walk.isDone, profile.isExact {
            let lost = service.losses.filter { $0.step >= walk.began }.map(\.photo)
            let missed = walk.expected.subtracting(walk.found).subtracting(lost)
            try ensure(missed.isEmpty, "a walk misses the photos \(missed.sorted())")
        }
        walks[index] = walk
        if next != nil { past.append(walk) }
    }

    /// Returns the photos that a walk that begins now must show: those that the daemon received, and those in gaps.
    private func expected() throws -> Set<Int> {
        let known = try tables.source(source)
        guard known != nil else { return Set(service.shown) }
        let highest = covered.map(\.upperBound).max() ?? .max
        // The key of the pinned photo does not give its position.
        let photos = service.entries.dropFirst(profile.pins ? 1 : 0).flatMap { entry in
            let isInGap = entry.key < highest && !covered.contains { $0.contains(entry.key) }
            return entry.photos.filter { isInGap || shownOnce[entry.key]?.contains($0) == true }
        }
        return Set(photos).subtracting(service.hidden)
    }

    /// Checks that the cache shows the photos of the service after the last change.
    private mutating func checkFinalState() throws {
        isEmptyResponseDue = false
        fault = nil
        try deliver(isTop: true)
        try deliver(isTop: false)
        var shown: [Int] = []
        for round in 0..<6 {
            now = now + .seconds(301)
            try refresh()
            // An empty response counts when it is repeated.
            if round == 0 { try refresh() }
            // Each read refreshes one part: walks are repeated until nothing is outdated.
            for _ in 0..<100 {
                let before = requests
                shown = try walk()
                if requests == before { break }
            }
            // With counted pages, it is uncertain if a photo at the beginning of a page was removed.
            let wanted = Set(service.shown)
            if profile.kind == .counted { shown.removeAll { !wanted.contains($0) } }
            if shown == service.shown { return }
            // A list that exceeds the limit of the cache cannot be shown.
            let count = service.entries.reduce(0) { $0 + $1.photos.count }
            if count + profile.bounds.dead >= profile.bounds.walk { return }
            if (count + profile.bounds.dead) * Self.photoBytes >= profile.bounds.bytes { return }
            // Without exact positions, another round may be necessary.
            if profile.kind == .keyed, round > 0 { break }
        }
        throw Violation("in the end the cache shows \(shown), and the service \(service.shown)")
    }

    private mutating func walk() throws -> [Int] {
        var shown: [Int] = []
        var place: FeedPosition?
        repeat {
            guard let (photos, next) = try page(place, count: 4) else {
                try ensure(profile.mayBeStale, "a cursor is stale after the last change")
                return shown
            }
            shown += photos
            place = next
            try deliver(isTop: false)
        } while place != nil
        return shown
    }
}
