internal import ProviderKit

/// What became of a like or unlike.
nonisolated package enum LikeOutcome: String, Sendable {
    /// The service has confirmed it.
    case done
    /// It is kept, and sent later.
    case queued
    /// The service offers no likes: it is kept here.
    case local
}

/// The likes of an account: each is written down before it is sent, and sent until the service has
/// confirmed or refused it. For each photo the last wish counts.
final class Likes {
    /// How long a caller waits before its wish counts as queued.
    static let patience = Duration.seconds(15)
    /// How long a service that offered no likes is not asked again.
    static let unavailablePause = Duration.seconds(86_400)

    private let session: any RemoteLikes
    private let feed: CachedFeed
    private let store: LikeStore
    private let owner: any LikesOwner
    private var wishes: [LikeWish] = []
    private var local: [PhotoID] = []
    private var unavailableSince: Timestamp?
    private var loading: Task<Void, any Error>?
    private var sending: Task<Void, Never>?
    private var waiters: [LikeWish: [CheckedContinuation<LikeOutcome, any Error>]] = [:]
    /// What is being sent at this moment.
    private var inFlight: LikeWish?
    /// How often in a row the service had trouble with a wish.
    private var tries = 0
    private var retry: Task<Void, Never>?
    private var isClosed = false

    init(
        _ session: any RemoteLikes, _ feed: CachedFeed, _ store: LikeStore, owner: any LikesOwner
    ) {
        self.session = session
        self.feed = feed
        self.store = store
        self.owner = owner
    }

    /// Photos whose like or unlike is on its way or queued.
    var pending: [PhotoID] { wishes.map(\.photo) }

    /// What is liked here alone, the latest first; nil as long as the service offers likes.
    var localPhotos: [PhotoID]? { unavailableSince == nil ? nil : local.reversed() }

    /// A photo as the user is to see it.
    func decorate(_ photo: Photo) -> Photo {
        guard !wishes.isEmpty || !local.isEmpty else { return photo }
        var photo = photo
        photo.isPending = wishes.contains { $0.photo == photo.id }
        if local.contains(photo.id) { photo.isLiked = true }
        return photo
    }

    // MARK: Wishes

    /// Likes or unlikes a photo.
    ///
    /// - Throws: ``ProviderError/notFound(_:)`` for a photo that does not exist; the refusal of the
    ///   service; what the disk says.
    func set(_ id: PhotoID, _ isWanted: Bool) async throws -> LikeOutcome {
        try await load()
        let photo = decorate(try await feed.photo(id).photo)
        let wish = LikeWish(photo: id, isWanted: isWanted)
        if mayOfferLikesAgain { try await resumeSending() }
        if unavailableSince != nil {
            if photo.isLiked != isWanted { try await settleLocally(wish) }
            return .local
        }
        let earlier = wishes.first { $0.photo == id }
        if photo.isLiked == isWanted, earlier?.isWanted != isWanted,
            earlier != inFlight || earlier == nil
        {
            // What was not sent yet is as if it had never been wished.
            if let earlier {
                try await store.remove(earlier)
                settle(earlier)
            }
            return .done
        }
        if earlier?.isWanted != isWanted {
            try await store.add(wish)
            if let index = wishes.firstIndex(where: { $0.photo == id }) {
                wishes[index].isWanted = isWanted
            } else {
                wishes.append(wish)
            }
            changed(photo)
        }
        return try await withTimeLimit(Self.patience, owner.clock) { [self] in
            try await withCheckedThrowingContinuation { continuation in
                waiters[wish, default: []].append(continuation)
                send()
            }
        } onTimeout: {
            .queued
        }
    }

    /// Likes what is not liked, unlikes what is. What is on its way counts as arrived.
    func toggle(_ id: PhotoID) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        try await load()
        let photo = decorate(try await feed.photo(id).photo)
        let isWanted = !(wishes.first { $0.photo == id }?.isWanted ?? photo.isLiked)
        return (isWanted, try await set(id, isWanted))
    }

    // MARK: Being started and ended

    /// Reads what was left to do, once.
    func load() async throws {
        if loading == nil {
            loading = Task {
                let records = try await store.read()
                wishes = records.wishes
                local = records.local
                unavailableSince = records.unavailableSince
                if !wishes.isEmpty { owner.likesPendingChanged() }
            }
        }
        do {
            try await loading?.value
        } catch {
            loading = nil
            throw error
        }
    }

    func close() {
        isClosed = true
        retry?.cancel()
        for wish in waiters.keys { resolve(wish, .success(.queued)) }
    }

    /// Forgets everything, since the account is logged out.
    func clear() async throws {
        close()
        try await store.clear()
    }

    // MARK: Sending

    /// Sends what is queued, if the service may be asked. Called again whenever that may have changed.
    func send() {
        guard sending == nil, !isClosed else { return }
        retry?.cancel()
        sending = Task {
            await sendAll()
            sending = nil
        }
    }

    private func sendAll() async {
        while let wish = wishes.first, !isClosed {
            inFlight = wish
            defer { inFlight = nil }
            do {
                let known = try await feed.photo(wish.photo).photo
                let likes =
                    known.isLiked == wish.isWanted
                    ? known.likes
                    : try await owner.ask { [session] in
                        try await session.setLiked(wish.photo, wish.isWanted)
                    }
                try await confirm(wish, likes: likes)
            } catch {
                guard await handle(error, wish) else { break }
            }
        }
        // Whoever waits for a wish that did not go out is told that it is kept.
        for wish in waiters.keys { resolve(wish, .success(.queued)) }
    }

    private func confirm(_ wish: LikeWish, likes: Int?) async throws {
        tries = 0
        let photo = try await feed.setLiked(wish.photo, wish.isWanted, likes: likes)
        try await store.remove(wish)
        settle(wish)
        owner.likeConfirmed(wish.photo, wish.isWanted, likes: photo?.likes ?? likes ?? 0)
        resolve(wish, .success(.done))
    }

    /// Takes note that a wish is done with, unless another has taken its place meanwhile.
    private func settle(_ wish: LikeWish) {
        wishes.removeAll { $0 == wish }
        owner.likesPendingChanged()
        noteChange(wish.photo)
    }

    /// - Returns: Whether to go on with the next wish.
    private func handle(_ error: any Error, _ wish: LikeWish) async -> Bool {
        do {
            switch error {
            case ProviderError.notFound:
                // Is it the photo that is gone, or the likes?
                _ = try await feed.fetchPhoto(wish.photo)
                try await settleLocally(wish)
            case ProviderError.denied:
                try await settleLocally(wish)
            case ProviderError.invalidArgument, ProviderError.notSupported:
                try await refuse(wish, error)
            default:
                scheduleRetry(after: error)
                return false
            }
            return true
        } catch {
            if case ProviderError.notFound = error {
                do { try await refuse(wish, error) } catch { return false }
                return true
            }
            scheduleRetry(after: error)
            return false
        }
    }

    /// Sets out for another try of what the service had trouble with. Where it cannot be asked at all, the
    /// owner calls ``send()`` once it can.
    private func scheduleRetry(after error: any Error) {
        switch error {
        case HTTPError.unreachable, ProviderError.rateLimited, ProviderError.unauthorized,
            is SecretStoreError, is CancellationError:
            return
        default: break
        }
        guard !isClosed else { return }
        tries += 1
        let pause = ServiceHealth.pause(after: tries, jitter: Double.random(in: 0...1))
        retry = Task { [weak self, clock = owner.clock] in
            do { try await clock.sleep(for: pause) } catch { return }
            // Not to be cancelled by what it starts.
            self?.retry = nil
            self?.send()
        }
    }

    private func refuse(_ wish: LikeWish, _ error: any Error) async throws {
        try await store.remove(wish)
        settle(wish)
        owner.likeFailed(wish.photo, wish.isWanted, error)
        resolve(wish, .failure(error))
    }

    private func resolve(_ wish: LikeWish, _ result: Result<LikeOutcome, any Error>) {
        for waiter in waiters.removeValue(forKey: wish) ?? [] { waiter.resume(with: result) }
    }

    // MARK: A service without likes

    private var mayOfferLikesAgain: Bool {
        unavailableSince.map { owner.now >= $0 + Self.unavailablePause } ?? false
    }

    private func settleLocally(_ wish: LikeWish) async throws {
        let asked = unavailableSince ?? owner.now
        try await store.settleLocally(wish, asked: asked)
        unavailableSince = asked
        local.removeAll { $0 == wish.photo }
        if wish.isWanted { local.append(wish.photo) }
        let photo = try await feed.setLiked(wish.photo, wish.isWanted, likes: nil)
        settle(wish)
        owner.likeConfirmed(wish.photo, wish.isWanted, likes: photo?.likes ?? 0)
        resolve(wish, .success(.local))
    }

    private func resumeSending() async throws {
        try await store.resumeSending()
        loading = nil
        try await load()
        send()
    }

    // MARK: Telling

    private func changed(_ photo: Photo) {
        owner.likesPendingChanged()
        owner.photosChanged([photo])
    }

    private func noteChange(_ id: PhotoID) {
        Task {
            if let photo = try? await feed.photo(id).photo { owner.photosChanged([photo]) }
        }
    }
}

/// Whose likes they are.
protocol LikesOwner: CachedFeedOwner {
    var clock: any Clock<Duration> { get }

    func likesPendingChanged()
    /// The service, or the user in its place, has settled whether a photo is liked.
    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int)
    /// The service has refused; the old state stands.
    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error)
}
