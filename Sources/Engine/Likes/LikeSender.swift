internal import EngineModel
package import ProviderKit
internal import Storage
internal import System
internal import Translation

/// The calls that like and unlike, and the one worker that sends the pending likes of an account.
///
/// - A row is stored before the reply `queued`, and before a request.
/// - For each like group, calls are decided in the order of their arrival. The last one sets the wanted state.
/// - The rows change one at a time (``changes``), never during a request.
package final class LikeSender {
    /// The time limit of a call. After that, the outcome of the call is `queued`.
    package static let callTimeout = Duration.seconds(15)

    let store: any OutboxStorage
    let ports: any LikePorts
    package internal(set) var outbox: LikeOutbox
    /// True if the service offers no likes, as far as is known.
    package internal(set) var isUnavailable: Bool
    /// The changes of rows. Each is decided and stored before the next one begins.
    let changes = ChangeQueue()
    /// The rows that the database does not have as they are here, because a write failed.
    var unwritten: Set<PhotoID> = []
    /// The calls that are not decided, by like group, in the order of their arrival.
    private var undecided: [String: [Call]] = [:]
    /// The calls without a reply.
    var calls: [Call] = []
    private var loading: Task<Void, any Error>?
    package private(set) var isLoaded = false
    var worker: Task<Void, Never>?
    /// The photo and the state that the worker is sending.
    var inFlight: (photo: PhotoID, isWanted: Bool)?
    /// The error of calls that are no longer accepted: ``replaced`` or ``loggedOut``.
    var closing: EngineError?

    /// Another session of the account takes over; the rows remain.
    private static let replaced = EngineError.cancelled(
        Message("The session of the account ended; try again."))
    /// The rows are being deleted, or are deleted.
    private static let loggedOut = EngineError.cancelled(
        Message("The like was dropped because the account was logged out; log in first."))

    /// A call of a client.
    final class Call {
        let photo: PhotoID
        /// The wanted state; nil for the opposite of the present one.
        let isWanted: Bool?
        let reply = OneShotResult<LikeReply, any Error>()
        var step = Step.reading

        enum Step: Equatable {
            /// The present state is being read.
            case reading
            /// The row is being stored. `isOverdue` is true if the reply follows at once.
            case writing(isOverdue: Bool)
            /// The row is stored. The value is the wanted state.
            case stored(Bool)
        }

        init(photo: PhotoID, isWanted: Bool?) {
            self.photo = photo
            self.isWanted = isWanted
        }
    }

    package init(
        store: any OutboxStorage, ports: any LikePorts,
        likeGroup: @escaping @Sendable (PhotoID) -> String
    ) {
        self.store = store
        self.ports = ports
        outbox = LikeOutbox(likeGroup: likeGroup)
        isUnavailable = ports.hasLocalLikes
    }

    // MARK: Rows

    /// Reads the stored rows, once.
    ///
    /// - Throws: ``StorageError``.
    package func load() async throws {
        guard !isLoaded else { return }
        let task =
            loading
            ?? Task {
                let rows = try await store.run { table throws(StorageError) in try table.rows() }
                if let closing { throw closing }
                for row in rows { outbox.insert(row) }
                isUnavailable = isUnavailable || rows.contains { $0.state == .local }
                isLoaded = true
                ports.emit(.changed(.likes))
            }
        loading = task
        defer { loading = nil }
        try await task.value
    }

    func write(_ row: OutboxRow) async throws {
        try await store.run { table throws(StorageError) in try table.write(row) }
    }

    func remove(_ photos: [PhotoID]) async throws {
        var photos = photos[...]
        while !photos.isEmpty {
            let piece = photos.prefix(OutboxTable.transactionLimit)
            photos = photos.dropFirst(piece.count)
            try await store.run { table throws(StorageError) in try table.remove(piece) }
        }
    }

    /// Stores the row of a photo as it is in memory, or deletes it. After a failure, that is repeated later.
    func persist(_ photo: PhotoID) async throws {
        do {
            if let row = outbox[photo], row.photo == photo, !row.isSettled {
                try await write(row)
            } else {
                try await remove([photo])
            }
            unwritten.remove(photo)
        } catch {
            unwritten.insert(photo)
            throw error
        }
    }

    /// Ends the priority of rows over the answers of the service.
    ///
    /// - Parameters:
    ///   - states: The liked states in the answer to a request. The cache has them now, except those that the overlay of
    ///     the request replaced.
    ///   - request: The request.
    package func reconcile(_ states: [PhotoID: Bool], of request: LikeOutbox.Request) async {
        guard states.contains(where: { outbox[$0.key]?.known != nil }) else { return }
        await changes.run {
            let settled = outbox.reconcile(states, of: request, at: ports.now)
            guard !settled.isEmpty, closing == nil else { return }
            do {
                try await remove(settled)
                unwritten.subtract(settled)
            } catch {
                unwritten.formUnion(settled)
            }
        }
    }

    // MARK: Calls

    /// Likes or unlikes a photo. The work continues after the time limit.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - isWanted: The new state; nil for the opposite of the present one. A pending like or unlike counts as
    ///     confirmed.
    /// - Returns: The wanted state, and the outcome.
    /// - Throws: ``ProviderError/notFound(_:)`` for a photo that does not exist; the refusal of the service;
    ///   ``EngineError/cancelled(_:)`` if the account logs out meanwhile; a storage error; for a toggle also the error of
    ///   the service if the photo is not cached and cannot be fetched.
    package func change(_ photo: PhotoID, _ isWanted: Bool?) async throws -> LikeReply {
        if let closing { throw closing }
        let call = Call(photo: photo, isWanted: isWanted)
        calls.append(call)
        let group = outbox.likeGroup(photo)
        undecided[group, default: []].append(call)
        if undecided[group]?.count == 1 { Task { await decideCalls(of: group) } }
        let timer = ports.clock.after(Self.callTimeout) { [self] in timedOut(call) }
        defer {
            timer.cancel()
            calls.removeAll { $0 === call }
        }
        return try await call.reply.value()
    }

    private func decideCalls(of group: String) async {
        while let call = undecided[group]?.first {
            do {
                try await decide(call)
            } catch {
                call.step = .reading
                // A logout ends the calls itself.
                if closing != Self.loggedOut { call.reply.complete(.failure(error)) }
            }
            undecided[group]?.removeFirst()
        }
        undecided[group] = nil
    }

    private func decide(_ call: Call) async throws {
        try await load()
        var isFetchable = true
        while true {
            let isDecided = try await changes.run {
                let photos = try await ports.cachedPhotos(of: call.photo)
                if let closing { throw closing }
                guard photos.first?.id == call.photo || !isFetchable else { return false }
                // The time limit may have passed.
                if !call.reply.isComplete { try await decide(call, photos) }
                return true
            }
            guard !isDecided else { return }
            isFetchable = false
            do {
                _ = try await ports.fetchPhoto(call.photo)
            } catch  where call.isWanted != nil && Self.isTemporary(error) {
                // The wanted state is known, so the present state is not needed.
            }
        }
    }

    private func decide(_ call: Call, _ photos: [Photo]) async throws {
        let (isWanted, decision) = outbox.decide(
            call.photo, call.isWanted, cached: photos.first?.isLiked, isLocal: isUnavailable)
        switch decision {
        case .unchanged: reply(call, isWanted, isUnavailable ? .local : .done)
        case .pending:
            call.step = .stored(isWanted)
            deliver()
        case .withdraw(let row):
            var reverted = outbox
            reverted.revert(row.photo)
            call.step = .writing(isOverdue: false)
            if let before = reverted[row.photo], !before.isSettled {
                try await write(before)
            } else {
                try await remove([row.photo])
            }
            guard closing == nil else { return end(call, isWanted, .done) }
            outbox = reverted
            replyToAll(row.photo, row.isWanted, .queued)
            ports.emit(.changed(.likes))
            ports.emit(.photosChanged(photos))
            reply(call, isWanted, .done)
        case .store(let row): try await store(row, call, photos)
        }
    }

    /// Stores a row for a call.
    private func store(_ row: OutboxRow, _ call: Call, _ photos: [Photo]) async throws {
        var row = row
        let isLocal = row.state == .local
        // A row that is sent at once is stored once.
        row.isMarked = row.isMarked || !isLocal && worker == nil && ports.isAvailable
        var stored = row
        if row.isMarked { stored.state = .sending }
        call.step = .writing(isOverdue: false)
        try await write(stored)
        unwritten.remove(row.photo)
        guard closing == nil else { return end(call, row.isWanted, isLocal ? .local : .queued) }
        let isOverdue = call.step == .writing(isOverdue: true)
        call.step = .stored(row.isWanted)
        let earlier = outbox[row.photo]
        outbox.insert(row)
        // The earlier like is no longer sent. If it is being sent, its callers get its outcome.
        if let earlier, earlier.isPending, earlier.isWanted != row.isWanted,
            inFlight.map({ !isSame($0, earlier) }) ?? true
        {
            replyToAll(row.photo, earlier.isWanted, .queued)
        }
        guard !isLocal else { return await storedLocally(row) }
        ports.emit(.changed(.likes))
        ports.emit(.photosChanged(photos))
        if isOverdue { reply(call, row.isWanted, .queued) }
        // This like may succeed even if others failed.
        deliver()
    }

    func isSame(_ sent: (photo: PhotoID, isWanted: Bool), _ row: OutboxRow) -> Bool {
        outbox.likeGroup(sent.photo) == outbox.likeGroup(row.photo) && sent.isWanted == row.isWanted
    }

    func timedOut(_ call: Call) {
        switch call.step {
        case .reading:
            let error = ProviderError.failed(
                Message("The service did not respond in time; try again later."))
            call.reply.complete(.failure(error))
        case .writing: call.step = .writing(isOverdue: true)
        case .stored(let isWanted): reply(call, isWanted, .queued)
        }
    }

    // MARK: Replies

    private func reply(_ call: Call, _ isWanted: Bool, _ outcome: LikeOutcome) {
        call.reply.complete(.success((isWanted, outcome)))
    }

    /// Returns the calls that wait for a state of a like group, in their order.
    private func waiting(for photo: PhotoID, _ isWanted: Bool) -> [Call] {
        let group = outbox.likeGroup(photo)
        return calls.filter {
            $0.step == .stored(isWanted) && outbox.likeGroup($0.photo) == group
        }
    }

    /// Replies to all calls that wait for a state of a like group.
    func replyToAll(_ photo: PhotoID, _ isWanted: Bool, _ outcome: LikeOutcome) {
        for call in waiting(for: photo, isWanted) { reply(call, isWanted, outcome) }
    }

    func failAll(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error) {
        for call in waiting(for: photo, isWanted) { call.reply.complete(.failure(error)) }
    }

    /// Replies to all calls whose likes were stored and not sent.
    func replyToAllQueued() {
        for call in calls {
            if case .stored(let isWanted) = call.step { reply(call, isWanted, .queued) }
        }
    }

    /// Returns true if an error does not concern the photo and may be temporary.
    private static func isTemporary(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.rateLimited, ProviderError.unauthorized: true
        default: error is HTTPError || error is SecretStoreError
        }
    }
}

// The end of a session: a logout, or a replacement by another session.
extension LikeSender {
    /// Ends the work, because another session replaces this one. The rows remain, and the other session sends them.
    package func close() {
        guard closing == nil else { return }
        closing = Self.replaced
        worker?.cancel()
        replyToAllQueued()
        for call in calls where call.step == .reading {
            call.reply.complete(.failure(Self.replaced))
        }
    }

    /// Deletes all rows, because the account logs out, except the likes of a service that never has likes. Calls in
    /// progress fail with ``EngineError/cancelled(_:)``.
    ///
    /// - Throws: ``StorageError``; then the likes are still queued.
    package func clear() async throws {
        closing = Self.loggedOut
        worker?.cancel()
        do {
            let keepsLocalLikes = ports.hasLocalLikes
            try await store.repeat { table throws(StorageError) in
                try table.clear(keepsLocalLikes: keepsLocalLikes)
            }
        } catch {
            closing = nil
            close()
            throw error
        }
        for call in calls { call.reply.complete(.failure(Self.loggedOut)) }
        await store.scrub()
    }

    /// Replies to a call whose row was being stored when the work ended.
    private func end(_ call: Call, _ isWanted: Bool, _ outcome: LikeOutcome) {
        call.step = .stored(isWanted)
        // The reply of a call during a logout depends on the logout, which does not delete likes that are only local.
        if closing == Self.replaced || ports.hasLocalLikes { reply(call, isWanted, outcome) }
    }
}

extension OutboxStorage {
    /// Runs `body` until it returns true, in transactions of a limited size.
    func `repeat`(
        _ body: @escaping @Sendable (OutboxTable) throws(StorageError) -> Bool
    ) async throws {
        while try await !run(body) {}
    }
}
