internal import ProviderKit

// Sending what is queued, and what becomes of it.
extension Likes {
    /// So many wishes in a row fail, and the service is left alone for a while.
    private static let failureLimit = 2

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

    /// Sends one after the other, in their order. One that the service has trouble with keeps the others from
    /// nothing: it waits for the next time.
    private func sendAll() async {
        var waiting: Set<PhotoID> = []
        var failures = 0
        while !isClosed, let wish = wishes.first(where: { !waiting.contains($0.photo) }) {
            let likeable = likeable(wish.photo)
            let wasUnanswered = unanswered.contains(likeable)
            do {
                try await sendOne(wish)
                failures = 0
            } catch {
                let isDone = await handle(error, wish)
                if isDone || Self.isAnswer(error) && !wasUnanswered {
                    unanswered.remove(likeable)
                }
                guard !isDone else { continue }
                waiting.insert(wish.photo)
                failures += 1
                guard Self.concernsOne(error), failures < Self.failureLimit else { break }
            }
        }
        halts = wishes.isEmpty || waiting.isEmpty ? 0 : max(halts, 1)
        // Whoever waits for a wish that did not go out is told that it is kept.
        for wish in waiters.keys { resolve(wish, .success(.queued)) }
    }

    private func sendOne(_ wish: LikeWish) async throws {
        if unavailableSince != nil, !mayOfferLikesAgain { return try await settleLocally(wish) }
        let known = try await feed.photo(wish.photo).photo
        // Somebody may have changed their mind.
        guard wishes.contains(wish), !isClosed else { return }
        let likeable = likeable(wish.photo)
        let isLiked = unwritten[likeable] ?? known.isLiked
        let isUncertain = unanswered.contains(likeable)
        let likes: Int?
        if let confirmed = confirmed[wish] {
            likes = confirmed
        } else if isLiked == wish.isWanted, !isUncertain {
            likes = known.likes
        } else {
            likes = try await owner.ask { [self] in
                unanswered.insert(likeable)
                return try await session.setLiked(wish.photo, wish.isWanted)
            }
            // Sent once, even if the disk is full now.
            confirmed[wish] = .some(likes)
        }
        try await confirm(
            wish, likes: likes, isCertain: !isUncertain && isLiked != wish.isWanted)
        unanswered.remove(likeable)
    }

    /// Whether an error says that the service has changed nothing.
    private static func isAnswer(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed: false
        default: error is ProviderError || error is EngineError || error is SecretStoreError
        }
    }

    /// Whether another photo may fare better.
    private static func concernsOne(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, HTTPError.failed, HTTPError.tooLarge: true
        default: false
        }
    }

    /// Whether what went wrong says nothing about the photo, and may be over later.
    static func mayPass(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.rateLimited, ProviderError.unauthorized: true
        default: error is HTTPError || error is SecretStoreError
        }
    }

    private func confirm(_ wish: LikeWish, likes: Int?, isCertain: Bool) async throws {
        let photos = await note(wish, likes: likes, isCounted: isCertain)
        try await store.remove(wish)
        confirmed[wish] = nil
        settle(wish, isTold: !photos.isEmpty)
        tell(wish, photos, likes: likes, isCertain: isCertain)
        resolve(wish, .success(.done))
    }

    /// Has the cache note what is settled. One that cannot be written, for want of room, is put right here.
    private func note(_ wish: LikeWish, likes: Int?, isCounted: Bool) async -> [Photo] {
        do {
            let photos = try await feed.setLiked(
                wish.photo, wish.isWanted, likes: likes, isCounted: isCounted)
            unwritten[likeable(wish.photo)] = nil
            return photos
        } catch {
            unwritten[likeable(wish.photo)] = wish.isWanted
            return []
        }
    }

    /// The service says what is liked: the cache has it from there.
    func noteObserved(_ id: PhotoID) { unwritten[likeable(id)] = nil }

    /// Tells of what is settled, for each photo that it is settled for.
    private func tell(_ wish: LikeWish, _ photos: [Photo], likes: Int?, isCertain: Bool) {
        if photos.isEmpty {
            owner.likeConfirmed(
                wish.photo, wish.isWanted, likes: likes ?? 0, isCertain: isCertain)
        }
        for photo in photos {
            owner.likeConfirmed(
                photo.id, wish.isWanted, likes: photo.likes ?? likes ?? 0, isCertain: isCertain)
        }
    }

    /// Takes note that a wish is done with, unless another has taken its place meanwhile.
    ///
    /// - Parameters:
    ///   - wish: The wish.
    ///   - isTold: Whether clients know already what the photo is like now.
    func settle(_ wish: LikeWish, isTold: Bool = false) {
        settled += 1
        wishes.removeAll { $0 == wish }
        owner.likesPendingChanged()
        if !isTold { noteChange(wish.photo) }
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

    func resolve(_ wish: LikeWish, _ result: Result<LikeOutcome, any Error>) {
        for waiter in waiters.removeValue(forKey: wish) ?? [] { waiter.resume(with: result) }
    }

    // MARK: A service without likes

    /// When the service is to be asked again whether it offers likes, since some are kept here alone.
    var nextQuestion: Timestamp? {
        local.isEmpty ? nil : unavailableSince.map { $0 + Self.unavailablePause }
    }

    /// Sends what is kept here alone, if it is time to ask the service again.
    func askAgain() async {
        guard mayOfferLikesAgain, !local.isEmpty, !isClosed else { return }
        // What the disk does not say now, it says the next time.
        try? await resumeSending()
    }

    /// A moment in the future was before the clock was set back.
    var mayOfferLikesAgain: Bool {
        unavailableSince.map { owner.now >= $0 + Self.unavailablePause || owner.now < $0 } ?? false
    }

    func settleLocally(_ wish: LikeWish) async throws {
        let isKnown = unavailableSince != nil && !mayOfferLikesAgain
        let asked = isKnown ? unavailableSince ?? owner.now : owner.now
        try await store.settleLocally(wish, asked: asked)
        unavailableSince = asked
        let opposite = LikeWish(photo: wish.photo, isWanted: !wish.isWanted)
        let isNews = !local.contains(wish) && resumed.remove(wish) == nil
        if local.contains(opposite) {
            local.removeAll { $0 == opposite }
        } else if !local.contains(wish) {
            local.append(wish)
        }
        let photos = await note(wish, likes: nil, isCounted: isNews)
        unanswered.remove(likeable(wish.photo))
        settle(wish)
        tell(wish, photos, likes: nil, isCertain: isNews)
        resolve(wish, .success(.local))
    }

    func resumeSending() async throws {
        resumed.formUnion(local)
        try await store.resumeSending()
        loading = nil
        try await load()
        send()
    }
}
