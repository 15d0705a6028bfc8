internal import Accounts
internal import Feeds
internal import Likes
internal import ProviderKit
internal import System

/// The likes of an account. This type performs the effects that ``LikeQueue`` decides.
final class Likes {
    /// The time limit of a call. After that, the outcome of the call is `queued`.
    static let callTimeout = Duration.seconds(15)

    private let session: any RemoteLikes
    private let feed: CachedFeed
    private let store: LikeStore
    private let owner: RemoteService
    /// The decisions. Only this type changes it.
    private(set) var queue: LikeQueue
    private var lastCall = 0
    private var callers: [LikeQueue.CallID: CheckedContinuation<LikeReply, any Error>] = [:]
    /// The photos that the calls have read, each with the others of its like group.
    private var photosOfCalls: [LikeQueue.CallID: [Photo]] = [:]
    private var loading: Task<Void, any Error>?
    /// The request of the delivery in progress.
    private var request: Task<Void, Never>?

    init(
        _ session: any RemoteLikes, _ feed: CachedFeed, _ store: LikeStore, owner: RemoteService
    ) {
        self.session = session
        self.feed = feed
        self.store = store
        self.owner = owner
        queue = LikeQueue(isLocal: session.hasLocalLikes) {
            session.likeGroupPrefix($0) ?? $0.text
        }
    }

    /// The local likes, the latest first; nil if the service has likes.
    var localLikes: [PendingLike]? {
        queue.unavailableSince == nil ? nil : queue.localLikes.reversed()
    }
    /// The number of local likes of a service that never has likes; nil for another service, or before the records are
    /// loaded.
    var localCount: Int? {
        session.hasLocalLikes && queue.isLoaded ? queue.localLikes.filter(\.isWanted).count : nil
    }
    /// Returns true if a like or unlike is pending that leads to a state.
    ///
    /// - Parameters:
    ///   - photo: A photo of the like group.
    ///   - isLiked: The state.
    /// - Returns: True if its confirmation will be announced.
    func isExpected(_ photo: PhotoID, isLiked: Bool) -> Bool {
        queue.entry(queue.likeGroup(photo))?.like.isWanted == isLiked
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
    func change(_ photo: PhotoID, _ isWanted: Bool?) async throws -> LikeReply {
        lastCall += 1
        let id = lastCall
        let timer = owner.clock.after(Self.callTimeout) { [self] in handle(.timedOut(id)) }
        defer { timer.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            callers[id] = continuation
            handle(.called(id, photo, isWanted))
        }
    }

    // MARK: Events of the owner

    /// Loads the stored records, once.
    func load() async throws {
        handle(.loadRequested)
        try await loading?.value
    }

    /// Checks a service without likes again, because the user logged in or the provider was replaced. Sends the local
    /// likes.
    func checkAvailabilityAgain() {
        Task {
            // The records may show that the service has no likes.
            try? await load()
            handle(.availabilityUnknown)
        }
    }

    /// Ends the deliveries, because another session replaces this one. The records remain.
    func close() {
        handle(.closed(.replaced))
        request?.cancel()
    }

    /// Deletes all records, because the account logs out, except the likes of a service that never has likes. Calls in
    /// progress fail with ``EngineError/cancelled(_:)``.
    func clear() async throws {
        handle(.closed(.loggingOut))
        request?.cancel()
        do {
            try await store.clear(keepsLocalLikes: session.hasLocalLikes)
        } catch {
            handle(.closed(.replaced))
            throw error
        }
        handle(.closed(.loggedOut))
    }

    // MARK: Effects

    /// Passes an event to the queue, and performs its effects.
    func handle(_ event: LikeQueue.Event) {
        for effect in queue.handle(event, at: owner.now) { perform(effect) }
    }

    private func perform(_ effect: LikeQueue.Effect) {
        switch effect {
        case .readRecords: loading = Task { try await readRecords() }
        case .readPhoto(let call, let photo): Task { await read(photo, for: call) }
        case .write(let write):
            Task {
                let result = await Result { try await store.run { try $0.perform(write) } }
                handle(.written(result))
            }
        case .fetchPhoto(let photo, let isCachedEnough):
            request = Task {
                let result = await Result {
                    isCachedEnough
                        ? try await feed.photo(photo) : try await feed.fetchUnlikablePhoto(photo)
                }
                handle(.photoFetched(result.map(\.photo.isLiked)))
            }
        case .send(let like): request = Task { await send(like) }
        case .updateCache(let update): Task { await updateCache(update) }
        case .reply(let call, let result):
            photosOfCalls[call] = nil
            callers.removeValue(forKey: call)?.resume(with: result)
        case .pendingChanged: owner.emit(.changed(.likes))
        case .photosChanged(let photo, let call): announce(photo, call)
        case .confirmed(let update): announceConfirmed(update)
        case .failed(let like, let error):
            owner.emit(.likeFailed(like.photo, isWanted: like.isWanted, error))
        case .failuresChanged: owner.likeFailuresChanged()
        }
    }

    private func readRecords() async throws {
        do {
            var records = try await store.run { try $0.read() }
            let cached = try? await feed.cachedLikes(of: records.pending.map(\.like.photo))
            for (index, record) in records.pending.enumerated() {
                records.pending[index].cached = cached?[record.like.photo]
            }
            handle(.recordsRead(.success(records)))
        } catch {
            handle(.recordsRead(.failure(error)))
            throw error
        }
    }

    private func read(_ photo: PhotoID, for call: LikeQueue.CallID) async {
        let result = await Result { try await feed.likeGroup(of: photo) }
        if case .success(let photos) = result, callers[call] != nil {
            photosOfCalls[call] = photos
        }
        handle(.photoRead(call, result.map { $0.first?.isLiked ?? false }))
    }

    private func send(_ like: PendingLike) async {
        let result = await Result {
            try await owner.perform { [self] in
                guard queue.willSend(like) else { throw CancellationError() }
                return try await session.setLiked(like.photo, like.isWanted)
            }
        }
        if case .failure(ProviderError.denied(let reason)) = result { owner.likesDenied(reason) }
        handle(.sent(result))
    }

    /// The photos of a confirmed like, as they are in the cache now.
    private var confirmedPhotos: [Photo] = []

    private func updateCache(_ update: LikeQueue.CacheUpdate) async {
        let result = try? await feed.write(update)
        if let count = result?.count {
            owner.likeCount = count
        } else if update.isCounted {
            owner.likeCount = max(0, owner.likeCount + (update.like.isWanted ? 1 : -1))
        }
        confirmedPhotos = result?.photos ?? []
        let isCached = confirmedPhotos.contains { $0.id == update.like.photo }
        handle(.cacheUpdated(update, result == nil ? .failed : isCached ? .written : .notCached))
    }

    // MARK: Announcements

    /// Announces a confirmed like for each photo of its like group.
    private func announceConfirmed(_ update: LikeQueue.CacheUpdate) {
        let like = update.like
        if confirmedPhotos.isEmpty {
            // The photo is not in the cache, or the cache cannot be written.
            announce(like.photo, nil)
            owner.emit(
                .likeConfirmed(like.photo, isLiked: like.isWanted, likes: update.likes ?? 0))
        }
        for photo in confirmedPhotos {
            owner.emit(
                .likeConfirmed(
                    photo.id, isLiked: like.isWanted, likes: photo.likes ?? update.likes ?? 0))
        }
        // The service may have counted the like before.
        if update.outcome == .done, !update.isCounted { owner.likeCountDoubted() }
    }

    private func announce(_ photo: PhotoID, _ call: LikeQueue.CallID?) {
        if let call, let photos = photosOfCalls[call] { return owner.emit(.photosChanged(photos)) }
        Task {
            if let photos = try? await feed.companions(of: photo), !photos.isEmpty {
                owner.emit(.photosChanged(photos))
            }
        }
    }
}
