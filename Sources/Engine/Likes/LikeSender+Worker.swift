internal import EngineModel
internal import ProviderKit
internal import Storage
internal import System

// The worker, which sends the pending likes one after the other.
extension LikeSender {
    /// The number of consecutive failures that end a round.
    private static let failureLimit = 2

    /// True if a round has something to do.
    package var hasWork: Bool {
        !outbox.pending.isEmpty || !outbox.uncached.isEmpty || !unwritten.isEmpty
    }

    /// Starts a round of the worker, unless one is in progress: that one sends later rows as well.
    package func deliver() {
        guard closing == nil, isLoaded, worker == nil else { return }
        guard hasWork else { return ports.likesSent(isComplete: true) }
        worker = Task {
            let isComplete = await sendPending()
            worker = nil
            guard closing == nil else { return }
            replyToAllQueued()
            ports.likesSent(isComplete: isComplete)
        }
    }

    /// Checks a service without likes again. Sends the local likes.
    package func checkAvailabilityAgain() {
        Task {
            // The rows may show that the service has no likes.
            try? await load()
            guard isUnavailable, !ports.hasLocalLikes, closing == nil else { return }
            await changes.run {
                do {
                    try await store.repeat { table throws(StorageError) in
                        try table.sendLocalLikes()
                    }
                } catch { return }
                guard closing == nil else { return }
                isUnavailable = false
                for row in outbox.local {
                    // The cache has the local state, which the service does not have.
                    outbox.update(row.photo) { row in
                        row.state = .sending
                        (row.isMarked, row.isRetried) = (true, true)
                    }
                }
                ports.emit(.changed(.likes))
            }
            deliver()
        }
    }

    /// Sends the pending likes in their order.
    ///
    /// - Returns: False if one has to be sent again later.
    private func sendPending() async -> Bool {
        await repeatWrites()
        var deferred: Set<String> = []
        var failures = 0
        while closing == nil,
            let row = outbox.pending.first(where: {
                !deferred.contains(outbox.likeGroup($0.photo))
            })
        {
            inFlight = (row.photo, row.isWanted)
            let error = await send(row)
            inFlight = nil
            guard let error else {
                failures = 0
                continue
            }
            // Another state may be wanted now.
            guard outbox[row.photo]?.isWanted == row.isWanted else {
                replyToAll(row.photo, row.isWanted, .queued)
                continue
            }
            deferred.insert(outbox.likeGroup(row.photo))
            failures += 1
            guard Self.concernsOnePhoto(error), failures < Self.failureLimit else { break }
        }
        return deferred.isEmpty
    }

    /// Repeats the writes that failed, and removes rows that no longer have a purpose.
    private func repeatWrites() async {
        await changes.run {
            for photo in unwritten where closing == nil { try? await persist(photo) }
            for row in outbox.uncached where closing == nil {
                guard let known = row.known else { continue }
                await write(
                    LikeConfirmation(
                        photo: row.photo, isLiked: known, isRepeated: true, isEarlier: true))
            }
            let expired = outbox.expired(at: ports.now)
            guard closing == nil else { return }
            do {
                // The database no longer has the others.
                try await remove(expired.filter { !$0.isSettled }.map(\.photo))
            } catch {
                return
            }
            for row in expired { outbox.remove(row.photo) }
        }
    }

    // MARK: Sending

    /// Sends one row.
    ///
    /// - Returns: The error after which it is sent again later; nil if it is no longer pending, or another state is
    ///   wanted.
    private func send(_ row: OutboxRow) async -> (any Error)? {
        let wasSent = row.state == .sending
        do {
            if isUnavailable { return try await storeLocally(row) }
            // The cache then shows the like.
            if !row.isPhotoKnown {
                do {
                    _ = try await ports.fetchPhoto(row.photo)
                } catch ProviderError.notFound(let reason) {
                    return await refuse(row, ProviderError.notFound(reason))
                }
            }
            guard try await mark(row) else {
                replyToAll(row.photo, row.isWanted, .queued)
                return nil
            }
            let likes = try await ports.send(row.photo, row.isWanted)
            await confirm(row, likes, isRepeated: wasSent)
            return nil
        } catch {
            guard closing == nil else { return error }
            if !wasSent, !Self.mayHaveSucceeded(error) {
                await changes.run {
                    outbox.update(row.photo) { if $0.state == .sending { $0.state = .queued } }
                }
            }
            return await handle(error, of: row)
        }
    }

    /// Records, before the request, that the service may have executed it.
    ///
    /// - Returns: False if another state is wanted now.
    private func mark(_ row: OutboxRow) async throws -> Bool {
        try await changes.run {
            guard closing == nil, var marked = outbox[row.photo], marked.isPending,
                marked.isWanted == row.isWanted
            else { return false }
            marked.state = .sending
            marked.isPhotoKnown = true
            if !marked.isMarked {
                marked.isMarked = true
                try await write(marked)
            }
            guard closing == nil else { return false }
            outbox.insert(marked)
            return true
        }
    }

    private func handle(_ error: any Error, of row: OutboxRow) async -> (any Error)? {
        switch error {
        case ProviderError.notFound:
            // The service has no such photo, or no likes.
            do {
                try await ports.checkPhoto(row.photo)
            } catch ProviderError.notFound(let reason) {
                return await refuse(row, ProviderError.notFound(reason))
            } catch {
                return error
            }
            fallthrough
        // The service does not offer likes, or does not permit them to this application.
        case ProviderError.denied:
            guard closing == nil else { return error }
            isUnavailable = true
            do { return try await storeLocally(row) } catch { return error }
        // The service would refuse this like again.
        case ProviderError.refused, ProviderError.invalidArgument, ProviderError.notSupported,
            // Errors that are not expected in reply to a like.
            ProviderError.staleCursor, ProviderError.noSuchUser, ProviderError.userExists,
            ProviderError.wrongPassword:
            return await refuse(row, error)
        default: return error
        }
    }

    /// Returns false if an error proves that the service did not change the liked state.
    private static func mayHaveSucceeded(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, ProviderError.storageFull: true
        default: !(error is ProviderError || error is EngineError || error is SecretStoreError)
        }
    }

    /// Returns true if the same request may succeed for another photo.
    private static func concernsOnePhoto(_ error: any Error) -> Bool {
        switch error {
        case ProviderError.failed, HTTPError.failed, HTTPError.tooLarge: true
        default: false
        }
    }

    // MARK: Results

    /// Handles the confirmation of a state.
    private func confirm(_ row: OutboxRow, _ likes: Int?, isRepeated: Bool) async {
        await changes.run {
            guard closing == nil else { return }
            let isWanted = outbox.confirm(row.photo, row.isWanted, at: ports.now)
            // If that fails, the like is sent again after a restart.
            try? await persist(row.photo)
            guard closing == nil else { return }
            if outbox.pending.isEmpty { ports.likesSent(isComplete: true) }
            if isWanted { ports.emit(.changed(.likes)) }
            await store(
                LikeConfirmation(
                    photo: row.photo, isLiked: row.isWanted, likes: likes, isRepeated: isRepeated))
            replyToAll(row.photo, row.isWanted, .done)
        }
    }

    /// Handles a refusal: the state before remains.
    private func refuse(_ row: OutboxRow, _ error: any Error) async -> (any Error)? {
        await changes.run {
            guard closing == nil, let current = outbox[row.photo] else { return nil }
            let isRefused = current.isPending && current.isWanted == row.isWanted
            let cached = (try? await ports.cachedPhotos(of: row.photo))?.first?.isLiked
            guard closing == nil else { return nil }
            // The service may have the opposite state, which is wanted now.
            let isComplete = current.state == .queued && current.isWanted == current.known ?? cached
            if isRefused || isComplete {
                outbox.revert(row.photo)
                // If that fails, the like is refused again after a restart.
                try? await persist(row.photo)
                guard closing == nil else { return nil }
                ports.emit(.changed(.likes))
                announce(row.photo)
            }
            if isRefused { ports.emit(.likeFailed(row.photo, isWanted: row.isWanted, error)) }
            failAll(row.photo, row.isWanted, error)
            if !isRefused, isComplete { replyToAll(row.photo, current.isWanted, .done) }
            return nil
        }
    }

    /// Stores a pending like locally, because the service has no likes.
    ///
    /// - Throws: ``StorageError``; then the like is still pending.
    private func storeLocally(_ row: OutboxRow) async throws -> (any Error)? {
        try await changes.run {
            guard closing == nil, var local = outbox[row.photo], local.isPending,
                local.isWanted == row.isWanted
            else {
                replyToAll(row.photo, row.isWanted, .queued)
                return nil
            }
            // A refresh has asked for another attempt meanwhile.
            guard isUnavailable else { return nil }
            (local.state, local.isRetried) = (.local, false)
            local.known = nil
            local.confirmed = nil
            try await write(local)
            guard closing == nil else { return nil }
            outbox.insert(local)
            await storedLocally(local)
            return nil
        }
    }

    /// Handles a like that was stored locally, for a call or by the worker.
    func storedLocally(_ row: OutboxRow) async {
        ports.emit(.changed(.likes))
        await store(LikeConfirmation(photo: row.photo, isLiked: row.isWanted))
        replyToAll(row.photo, row.isWanted, .local)
    }

    /// Writes a state to the cache.
    ///
    /// - Returns: The photos of the like group that are cached.
    @discardableResult
    private func write(_ confirmation: LikeConfirmation) async -> [Photo] {
        let (photos, isWritten) = await ports.store(confirmation)
        outbox.update(confirmation.photo) { row in
            if row.known == confirmation.isLiked { row.isInCache = isWritten }
        }
        return photos
    }

    /// Writes a state to the cache, and announces it for each photo of its like group.
    private func store(_ confirmation: LikeConfirmation) async {
        let photos = await write(confirmation)
        guard closing == nil else { return }
        let (isLiked, likes) = (confirmation.isLiked, confirmation.likes)
        // The photo is not in the cache, or the cache cannot be written.
        if photos.isEmpty {
            announce(confirmation.photo)
            ports.emit(.likeConfirmed(confirmation.photo, isLiked: isLiked, likes: likes ?? 0))
        }
        for photo in photos {
            ports.emit(.likeConfirmed(photo.id, isLiked: isLiked, likes: photo.likes ?? likes ?? 0))
        }
    }

    private func announce(_ photo: PhotoID) {
        Task {
            if let photos = try? await ports.cachedPhotos(of: photo), !photos.isEmpty {
                ports.emit(.photosChanged(photos))
            }
        }
    }
}
