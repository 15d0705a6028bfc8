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
    /// What the service may know more of than it has confirmed, by ``likeable(_:)``: something was sent, and no
    /// answer came.
    private var unanswered: Set<String> = []
    /// What is to become of a wish is decided for one at a time.
    private let decisions = ChangeQueue()
    /// Counts the wishes that are done with.
    private var settled = 0
    private var isClosed = false
    /// How often in a row sending has come to a halt at a wish that stays queued. Of all that callers send
    /// only the first counts, of the tries by themselves each.
    private(set) var halts = 0

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
        if local.contains(where: { isOne($0, photo.id) }) { photo.isLiked = true }
        photo.isPending = wishes.contains {
            isOne($0.photo, photo.id) && $0.isWanted != photo.isLiked
        }
        return photo
    }

    /// What is liked with a photo: itself, or all that are liked as one.
    private func likeable(_ id: PhotoID) -> String { session.likedTogether(id) ?? id.text }

    private func isOne(_ left: PhotoID, _ right: PhotoID) -> Bool {
        left == right || likeable(left) == likeable(right)
    }

    // MARK: Wishes

    /// Likes or unlikes a photo.
    ///
    /// - Throws: ``ProviderError/notFound(_:)`` for a photo that does not exist; the refusal of the
    ///   service; what the disk says.
    func set(_ id: PhotoID, _ isWanted: Bool) async throws -> LikeOutcome {
        try await change(id) { _ in isWanted }.outcome
    }

    /// Likes what is not liked, unlikes what is. What is on its way counts as arrived.
    func toggle(_ id: PhotoID) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        try await change(id) { !$0 }
    }

    /// Does what `wanted` makes of whether the photo is liked, or about to be.
    private func change(
        _ id: PhotoID, _ wanted: @escaping @MainActor (Bool) -> Bool
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        let progress = Progress()
        return try await withTimeLimit(Self.patience, owner.clock) { [self] in
            try await load()
            // One that has to be asked for keeps nobody else waiting.
            _ = try await feed.photo(id)
            let (wish, settled) = try await decisions.run { try await decide(id, wanted) }
            if let settled { return (wish.isWanted, settled) }
            progress.wish = wish
            return (wish.isWanted, try await outcome(of: wish))
        } onTimeout: {
            guard let wish = progress.wish else {
                throw ProviderError.failed(
                    "The service takes too long to answer; try again later.")
            }
            return (wish.isWanted, .queued)
        }
    }

    /// How far a call has come.
    private final class Progress {
        /// What is written down.
        var wish: LikeWish?
    }

    /// Writes a wish down, if there is something left to wish.
    ///
    /// - Returns: The wish, and what became of it; nil if it is to be sent.
    private func decide(
        _ id: PhotoID, _ wanted: (Bool) -> Bool
    ) async throws -> (LikeWish, LikeOutcome?) {
        if mayOfferLikesAgain { try await resumeSending() }
        var known: Photo
        var before: Int
        repeat {
            before = settled
            known = try await feed.photo(id).photo
            // What was settled while it was read, it may not say.
        } while settled != before
        let photo = decorate(known)
        guard !isClosed else {
            throw EngineError.cancelled("The account was closed meanwhile; try again.")
        }
        let earlier = wishes.first { isOne($0.photo, id) }
        // One of those that are liked as one stands for all.
        let name = earlier?.photo ?? local.first { isOne($0, id) } ?? id
        let wish = LikeWish(photo: name, isWanted: wanted(earlier?.isWanted ?? photo.isLiked))
        if unavailableSince != nil {
            if photo.isLiked != wish.isWanted { try await settleLocally(wish) }
            return (wish, .local)
        }
        if earlier == wish { return (wish, nil) }
        if photo.isLiked == wish.isWanted, !unanswered.contains(likeable(id)) {
            // What was not sent yet is as if it had never been wished.
            if let earlier { try await takeBack(earlier) }
            return (wish, .done)
        }
        try await store.add(wish)
        if let index = wishes.firstIndex(where: { $0.photo == name }) {
            wishes[index] = wish
        } else {
            wishes.append(wish)
        }
        owner.likesPendingChanged()
        noteChange(id)
        return (wish, nil)
    }

    /// Drops a wish of which nothing was sent.
    private func takeBack(_ wish: LikeWish) async throws {
        // First of all, so that it is not sent meanwhile.
        wishes.removeAll { $0 == wish }
        do {
            try await store.remove(wish)
        } catch {
            wishes.append(wish)
            throw error
        }
        settle(wish)
        resolve(wish, .success(.queued))
    }

    /// Has a wish that is written down sent, and waits for what becomes of it.
    private func outcome(of wish: LikeWish) async throws -> LikeOutcome {
        guard !isClosed else { return .queued }
        return try await withCheckedThrowingContinuation { continuation in
            waiters[wish, default: []].append(continuation)
            send()
        }
    }

    // MARK: Being started and ended

    /// Reads what was left to do, once.
    func load() async throws {
        if loading == nil {
            loading = Task {
                let records = try await store.read()
                wishes = records.wishes
                // Whether they were sent before the program ended is not known.
                unanswered.formUnion(wishes.map { likeable($0.photo) })
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
        sending = Task {
            let before = halts
            await sendAll()
            sending = nil
            if halts > 0 || before > 0 { owner.likesHaltsChanged() }
        }
    }

    /// Takes note of a try by itself: if it fails, too, the next one is further away.
    func noteTry() {
        if halts > 0 { halts += 1 }
    }

    private func sendAll() async {
        while let wish = wishes.first, !isClosed {
            let likeable = likeable(wish.photo)
            let wasUnanswered = unanswered.contains(likeable)
            do {
                let known = try await feed.photo(wish.photo).photo
                // Somebody may have changed their mind.
                guard wishes.contains(wish), !isClosed else { continue }
                let isSettled =
                    known.isLiked == wish.isWanted && !unanswered.contains(likeable)
                let likes =
                    isSettled
                    ? known.likes
                    : try await owner.ask { [self] in
                        unanswered.insert(likeable)
                        return try await session.setLiked(wish.photo, wish.isWanted)
                    }
                try await confirm(wish, likes: likes)
                unanswered.remove(likeable)
                halts = 0
            } catch {
                let isDone = await handle(error, wish)
                if isDone || Self.isAnswer(error) && !wasUnanswered {
                    unanswered.remove(likeable)
                }
                guard isDone else {
                    halts = max(halts, 1)
                    break
                }
            }
        }
        if wishes.isEmpty { halts = 0 }
        // Whoever waits for a wish that did not go out is told that it is kept.
        for wish in waiters.keys { resolve(wish, .success(.queued)) }
    }

    /// Whether an error says that the service has changed nothing.
    private static func isAnswer(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed: false
        default: error is ProviderError || error is EngineError || error is SecretStoreError
        }
    }

    private func confirm(_ wish: LikeWish, likes: Int?) async throws {
        let photos = try await feed.setLiked(wish.photo, wish.isWanted, likes: likes)
        try await store.remove(wish)
        settle(wish)
        tell(wish, photos, likes: likes)
        resolve(wish, .success(.done))
    }

    /// Tells of what is settled, for each photo that it is settled for.
    private func tell(_ wish: LikeWish, _ photos: [Photo], likes: Int?) {
        if photos.isEmpty { owner.likeConfirmed(wish.photo, wish.isWanted, likes: likes ?? 0) }
        for photo in photos {
            owner.likeConfirmed(photo.id, wish.isWanted, likes: photo.likes ?? likes ?? 0)
        }
    }

    /// Takes note that a wish is done with, unless another has taken its place meanwhile.
    private func settle(_ wish: LikeWish) {
        settled += 1
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
                return false
            }
            return true
        } catch {
            if case ProviderError.notFound = error {
                do { try await refuse(wish, error) } catch { return false }
                return true
            }
            return false
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
        // A clock that was set back makes it long ago, rather than in years.
        unavailableSince.map { owner.now >= $0 + Self.unavailablePause || owner.now < $0 } ?? false
    }

    private func settleLocally(_ wish: LikeWish) async throws {
        let asked = unavailableSince ?? owner.now
        try await store.settleLocally(wish, asked: asked)
        unavailableSince = asked
        local.removeAll { $0 == wish.photo }
        if wish.isWanted { local.append(wish.photo) }
        let photos = try await feed.setLiked(wish.photo, wish.isWanted, likes: nil)
        settle(wish)
        tell(wish, photos, likes: nil)
        resolve(wish, .success(.local))
    }

    private func resumeSending() async throws {
        try await store.resumeSending()
        loading = nil
        try await load()
        send()
    }

    // MARK: Telling

    private func noteChange(_ id: PhotoID) {
        Task {
            if let photos = try? await feed.companions(of: id), !photos.isEmpty {
                owner.photosChanged(photos)
            }
        }
    }
}

/// Whose likes they are.
protocol LikesOwner: CachedFeedOwner {
    var clock: any Clock<Duration> { get }

    func likesPendingChanged()
    /// Something stays queued that could not be sent, or goes on after all.
    func likesHaltsChanged()
    /// The service, or the user in its place, has settled whether a photo is liked.
    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int)
    /// The service has refused; the old state stands.
    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error)
}
