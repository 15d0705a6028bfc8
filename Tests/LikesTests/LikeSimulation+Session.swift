import EngineModel
import ProviderKit
import Storage
import TestSupport

@testable import Likes

extension LikeSimulation {
    /// A session of the daemon: the operations of one ``LikeSender``.
    @MainActor
    final class Session: LikePorts, OutboxStorage {
        enum Kind: CaseIterable { case table, cache, request }

        private struct Operation {
            let kind: Kind
            let number: Int
            let continuation: CheckedContinuation<Bool, Never>
        }

        struct Killed: Error {}

        private(set) lazy var sender = LikeSender(
            store: self, ports: self, likeGroup: LikeSimulation.group)
        private unowned let simulation: LikeSimulation
        private var operations: [Operation] = []
        private var last = 0
        /// True after the daemon was killed: nothing has an effect any more.
        private(set) var isDead = false
        let clock: any Clock<Duration> = StoppedClock()

        init(_ simulation: LikeSimulation) { self.simulation = simulation }

        var hasOperations: Bool { !operations.isEmpty }
        var isStoring: Bool { operations.contains { $0.kind != .request } }

        /// Waits until the simulation completes the operation.
        ///
        /// - Returns: False if the daemon was killed.
        func wait(_ kind: Kind) async -> Bool {
            guard !isDead else { return false }
            last += 1
            let number = last
            return await withCheckedContinuation { continuation in
                operations.append(Operation(kind: kind, number: number, continuation: continuation))
            }
        }

        /// Completes one operation.
        func progress(_ random: inout SeededRandom) {
            let kinds = Kind.allCases.filter { kind in operations.contains { $0.kind == kind } }
            guard let kind = kinds.randomElement(using: &random) else { return }
            let all = operations.filter { $0.kind == kind }
            let chosen = kind == .request ? all.randomElement(using: &random) : all.first
            guard let chosen else { return }
            operations.removeAll { $0.number == chosen.number }
            chosen.continuation.resume(returning: true)
        }

        /// Ends everything at once, as a kill does.
        func end() {
            isDead = true
            let operations = operations
            self.operations = []
            for operation in operations { operation.continuation.resume(returning: false) }
            sender.close()
        }

        // MARK: Rows

        nonisolated func run<Value: Sendable>(
            _ body: @escaping @Sendable (OutboxTable) throws(StorageError) -> Value
        ) async throws -> Value {
            try await runOnMain(body)
        }

        nonisolated func scrub() async {}

        private func runOnMain<Value: Sendable>(
            _ body: @escaping @Sendable (OutboxTable) throws(StorageError) -> Value
        ) async throws -> Value {
            guard await wait(.table) else { throw Killed() }
            let table = simulation.table
            let before = try table.rows()
            return try table.database.transaction { () throws(StorageError) in
                let value = try body(table)
                if simulation.isDataDiskFull, try table.rows() != before {
                    simulation.hasWriteFailed = true
                    throw .full
                }
                return value
            }
        }

        // MARK: LikePorts

        var now: Timestamp { simulation.now }
        var hasLocalLikes: Bool { false }
        var isAvailable: Bool { simulation.condition == .well }

        func cachedPhotos(of photo: PhotoID) async throws -> [Photo] {
            guard await wait(.cache) else { throw Killed() }
            let group = LikeSimulation.group(of: photo)
            let others = LikeSimulation.photos.filter {
                $0 != photo && LikeSimulation.group(of: $0) == group
            }
            return ([photo] + others).compactMap { id in
                simulation.cache[id].map { LikeSimulation.photo(id, $0) }
            }
        }

        func fetchPhoto(_ photo: PhotoID) async throws -> Photo {
            guard await wait(.request) else { throw Killed() }
            return try simulation.fetch(photo).get()
        }

        func checkPhoto(_ photo: PhotoID) async throws { _ = try await fetchPhoto(photo) }

        func send(_ photo: PhotoID, _ isWanted: Bool) async throws -> Int? {
            let isAlive = await wait(.request)
            // A request may reach the service before the daemon is killed.
            guard isAlive || simulation.chance(2) else { throw Killed() }
            guard !Task.isCancelled || simulation.chance(2) else { throw CancellationError() }
            simulation.trace("  send \(photo) \(isWanted)")
            let result = simulation.execute(photo, isWanted)
            guard await wait(.request) else { throw Killed() }
            return try result.get()
        }

        func store(_ confirmation: LikeConfirmation) async -> (photos: [Photo], isWritten: Bool) {
            guard await wait(.cache), !simulation.isCacheDiskFull else { return ([], false) }
            let group = LikeSimulation.group(of: confirmation.photo)
            var photos: [Photo] = []
            for photo in LikeSimulation.photos where LikeSimulation.group(of: photo) == group {
                guard simulation.cache[photo] != nil else { continue }
                simulation.cache[photo] = confirmation.isLiked
                photos.append(LikeSimulation.photo(photo, confirmation.isLiked))
            }
            return (photos, true)
        }

        func emit(_ event: AccountEvent) {
            guard !isDead, case .likeFailed(let photo, _, _) = event else { return }
            simulation.recordFailure(of: photo)
        }

        func likesSent(isComplete: Bool) {}
    }

    /// A clock whose sleeps last until they are cancelled.
    struct StoppedClock: Clock {
        typealias Instant = ManualClock.Instant

        var now: Instant { Instant() }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            let (stream, continuation) = AsyncStream<Never>.makeStream()
            for await _ in stream {}
            withExtendedLifetime(continuation) {}
            throw CancellationError()
        }
    }

    fileprivate func recordFailure(of photo: PhotoID) {
        let group = Self.group(of: photo)
        trace("  failed \(group)")
        counts[.refusals, default: 0] += 1
        check(histories[group]?.mayFail == true || hasWriteFailed, "\(group) failed twice")
        histories[group]?.mayFail = calls.values.contains { $0.group == group }
        histories[group]?.promised = nil
    }

    // MARK: The end of sessions

    /// Kills the daemon and starts it again.
    func kill() async throws {
        trace("kill")
        counts[.kills, default: 0] += 1
        session.end()
        await settle()
        // The outcome of calls without a reply is unknown to their clients.
        for call in calls.values {
            histories[call.group]?.promised = nil
            histories[call.group]?.confirmed = nil
            histories[call.group]?.mayFail = true
        }
        calls = [:]
        try startSession()
    }

    private func startSession() throws {
        // A confirmation or a refusal that could not be stored is repeated.
        for row in try table.rows() where row.isPending {
            let group = Self.group(of: row.photo)
            histories[group]?.confirmed = nil
            if hasWriteFailed { histories[group]?.mayFail = true }
        }
        hasWriteFailed = false
        session = Session(self)
        session.sender.start()
    }

    /// Replaces the session, as a change of the settings does.
    func replaceSession() async {
        trace("replace")
        session.sender.close()
        await drain(session)
        check(calls.isEmpty, "calls without a reply after a replacement: \(calls.keys)")
        calls = [:]
        session.end()
        try? startSession()
    }

    /// Logs out and in again, or fails to.
    func logOut() async {
        trace("log out")
        let session = session
        var isCleared: Bool?
        Task {
            do {
                try await session.sender.clear()
                isCleared = true
            } catch {
                isCleared = false
            }
        }
        await drain(session)
        check(isCleared != nil, "the logout does not end")
        check(calls.isEmpty, "calls without a reply after a logout: \(calls.keys)")
        if isCleared == true {
            check((try? table.rows()) == [], "rows remain after a logout")
            cache = [:]
            for group in Self.groups {
                histories[group] = History(promisedBy: lastCall, isTouched: true)
            }
        }
        calls = [:]
        session.end()
        try? startSession()
    }

    /// Completes all operations of a session that was closed.
    private func drain(_ session: Session) async {
        await settle()
        for _ in 0..<500 where session.hasOperations {
            session.progress(&random)
            await settle()
        }
    }
}

@MainActor
extension LikeSender {
    /// Starts the work, as a session does.
    func start() {
        Task {
            try? await load()
            deliver()
        }
    }
}
