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

    let session: any RemoteLikes
    let feed: CachedFeed
    let store: LikeStore
    let owner: any LikesOwner
    var wishes: [LikeWish] = []
    var local: [LikeWish] = []
    var unavailableSince: Timestamp?
    /// What counted here alone until the service was asked again: counted once is enough.
    var resumed: Set<LikeWish> = []
    var loading: Task<Void, any Error>?
    var sending: Task<Void, Never>?
    var waiters: [LikeWish: [CheckedContinuation<LikeOutcome, any Error>]] = [:]
    /// What the service may know more of than it has confirmed, by ``likeable(_:)``: something was sent, and no
    /// answer came.
    var unanswered: Set<String> = []
    /// What the service has confirmed, and the disk could not be told yet; with how many like the photo now.
    var confirmed: [LikeWish: Int?] = [:]
    /// What was confirmed, by ``likeable(_:)``, and the cache could not be told: its photos say otherwise.
    var unwritten: [String: Bool] = [:]
    /// What is to become of a wish is decided for one at a time.
    private let decisions = ChangeQueue()
    /// The latest call about each photo that is not decided yet.
    private var arrivals: [PhotoID: Task<Void, Never>] = [:]
    /// Counts the wishes that are done with.
    var settled = 0
    var isClosed = false
    /// How often in a row sending has come to a halt at a wish that stays queued. Of all that callers send
    /// only the first counts, of the tries by themselves each.
    var halts = 0

    init(
        _ session: any RemoteLikes, _ feed: CachedFeed, _ store: LikeStore, owner: any LikesOwner
    ) {
        self.session = session
        self.feed = feed
        self.store = store
        self.owner = owner
    }

    /// Whether what was left to do is known.
    private(set) var isLoaded = false

    /// Photos whose like or unlike is on its way or queued.
    var pending: [PhotoID] { wishes.map(\.photo) }

    /// Whether the like or unlike of a photo, or of one that is liked with it, is on its way or queued.
    func isPending(_ id: PhotoID) -> Bool { wishes.contains { isOne($0.photo, id) } }

    /// What counts here alone, the latest first; nil as long as the service offers likes.
    var localWishes: [LikeWish]? { unavailableSince == nil ? nil : local.reversed() }

    /// A photo as the user is to see it.
    func decorate(_ photo: Photo) -> Photo {
        guard !wishes.isEmpty || !local.isEmpty || !unwritten.isEmpty else { return photo }
        var photo = photo
        if let isLiked = unwritten[likeable(photo.id)] { photo.isLiked = isLiked }
        if let wish = local.first(where: { isOne($0.photo, photo.id) }) {
            photo.isLiked = wish.isWanted
        }
        photo.isPending = wishes.contains {
            isOne($0.photo, photo.id) && $0.isWanted != photo.isLiked
        }
        return photo
    }

    /// What is liked with a photo: itself, or all that are liked as one.
    func likeable(_ id: PhotoID) -> String { session.likedTogether(id) ?? id.text }

    private func isOne(_ left: PhotoID, _ right: PhotoID) -> Bool {
        left == right || likeable(left) == likeable(right)
    }

    // MARK: Wishes

    /// Likes or unlikes a photo.
    ///
    /// - Throws: ``ProviderError/notFound(_:)`` for a photo that does not exist; the refusal of the
    ///   service; what the disk says.
    func set(_ id: PhotoID, _ isWanted: Bool) async throws -> LikeOutcome {
        try await change(id, unseen: isWanted) { _ in isWanted }.outcome
    }

    /// Likes what is not liked, unlikes what is. What is on its way counts as arrived.
    func toggle(_ id: PhotoID) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        try await change(id, unseen: nil) { !$0 }
    }

    /// Does what `wanted` makes of whether the photo is liked, or about to be.
    ///
    /// `unseen` is what is wanted whatever the photo is like: if it is not known, and nobody can be asked now.
    private func change(
        _ id: PhotoID, unseen: Bool?, _ wanted: @escaping @MainActor (Bool) -> Bool
    ) async throws -> (isLiked: Bool, outcome: LikeOutcome) {
        // Who came first decides first, however long the photo takes to be found.
        let earlier = arrivals[id]
        let (decided, decision) = AsyncStream<Void>.makeStream()
        let arrival = Task { for await _ in decided {} }
        arrivals[id] = arrival
        defer {
            decision.finish()
            if arrivals[id] == arrival { arrivals[id] = nil }
        }
        let progress = Progress()
        return try await withTimeLimit(Self.patience, owner.clock) { [self] in
            try await load()
            var isUnseen = false
            do {
                // One that has to be asked for keeps nobody else waiting.
                _ = try await feed.photo(id)
            } catch  where unseen != nil && Self.mayPass(error) {
                isUnseen = true
            }
            await earlier?.value
            let (wish, settled) = try await decisions.run {
                decision.finish()
                guard !progress.isGivenUp else { throw CancellationError() }
                if isUnseen, let unseen { return try await decideUnseen(id, unseen) }
                return try await decide(id, wanted)
            }
            if let settled { return (wish.isWanted, settled) }
            progress.wish = wish
            return (wish.isWanted, try await outcome(of: wish))
        } onTimeout: {
            guard let wish = progress.wish else {
                progress.isGivenUp = true
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
        /// Whether the caller was told that it comes to nothing.
        var isGivenUp = false
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
        try checkOpen()
        let earlier = wishes.first { isOne($0.photo, id) }
        let wish = LikeWish(photo: name(id), isWanted: wanted(earlier?.isWanted ?? photo.isLiked))
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
        try await keep(wish)
        owner.likesPendingChanged()
        noteChange(id)
        return (wish, nil)
    }

    /// Writes down what is wanted of a photo that nobody has seen here, and that nobody can be asked about now.
    private func decideUnseen(
        _ id: PhotoID, _ isWanted: Bool
    ) async throws -> (LikeWish, LikeOutcome?) {
        if mayOfferLikesAgain { try await resumeSending() }
        try checkOpen()
        let wish = LikeWish(photo: name(id), isWanted: isWanted)
        if unavailableSince != nil {
            try await settleLocally(wish)
            return (wish, .local)
        }
        guard !wishes.contains(wish) else { return (wish, nil) }
        // What the service knows of it is not known: it is to be told.
        unanswered.insert(likeable(id))
        try await keep(wish)
        owner.likesPendingChanged()
        return (wish, nil)
    }

    /// One of the photos that are liked as one stands for all.
    private func name(_ id: PhotoID) -> PhotoID {
        wishes.first { isOne($0.photo, id) }?.photo ?? local.first { isOne($0.photo, id) }?.photo
            ?? id
    }

    private func checkOpen() throws {
        guard !isClosed else {
            throw EngineError.cancelled("The account was closed meanwhile; try again.")
        }
    }

    /// Writes a wish down, in the place of an earlier one for the photo.
    private func keep(_ wish: LikeWish) async throws {
        try await store.add(wish)
        // It may be wanted anew.
        for isWanted in [false, true] {
            confirmed[LikeWish(photo: wish.photo, isWanted: isWanted)] = nil
        }
        if let index = wishes.firstIndex(where: { $0.photo == wish.photo }) {
            wishes[index] = wish
        } else {
            wishes.append(wish)
        }
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
                isLoaded = true
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

    // MARK: Telling

    func noteChange(_ id: PhotoID) {
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
    /// The service, or the user in its place, has settled whether a photo is liked. `isCertain` tells whether
    /// that was not settled before already, without anybody hearing of it.
    func likeConfirmed(_ photo: PhotoID, _ isLiked: Bool, likes: Int, isCertain: Bool)
    /// The service has refused; the old state stands.
    func likeFailed(_ photo: PhotoID, _ isWanted: Bool, _ error: any Error)
}
