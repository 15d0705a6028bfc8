internal import EngineModel
package import ProviderKit

/// The likes of an account on their way to the service, and those that the service or the cache may not show yet: one row
/// for each like group.
///
/// This type only decides; its owner, ``LikeSender``, stores the rows and sends the requests. The shown state of a photo
/// is that of its row, else that of the cache.
nonisolated package struct LikeOutbox: Sendable {
    /// The time after a confirmation in which an answer of the service with the other state is ignored, unless a client
    /// requested it: lists of a service may be older than its confirmation.
    static let confirmationPriority = Duration.seconds(600)

    /// Returns the name of a photo's like group. The service likes the photos of a group as one.
    package let likeGroup: @Sendable (PhotoID) -> String
    /// The rows by like group.
    private var rows: [String: OutboxRow] = [:]
    private var lastPosition: Int64 = 0
    /// The number of confirmations in this session. A request that started at an earlier number may have an older state.
    package private(set) var confirmations = 0
    /// The number of rows that were removed. A photo that was read from the cache before the number changed may have an
    /// older state.
    package private(set) var removals = 0

    package init(likeGroup: @escaping @Sendable (PhotoID) -> String) { self.likeGroup = likeGroup }

    // MARK: State

    /// Returns the row of the like group of a photo.
    package subscript(photo: PhotoID) -> OutboxRow? {
        // Most accounts have no rows, and the name of the group takes time.
        rows.isEmpty ? nil : rows[likeGroup(photo)]
    }

    /// The rows that the service has not confirmed, in their order.
    package var pending: [OutboxRow] { all { $0.isPending } }
    /// The rows that are stored locally, in their order.
    package var local: [OutboxRow] { all { $0.state == .local } }
    /// The rows whose confirmed state the cache may not have.
    package var uncached: [OutboxRow] { all { $0.known != nil && !$0.isInCache } }

    /// Returns the rows that meet a condition, in their order.
    func all(where condition: (OutboxRow) -> Bool) -> [OutboxRow] {
        rows.values.filter(condition).sorted { $0.position < $1.position }
    }

    package func isPending(_ photo: PhotoID) -> Bool { self[photo]?.isPending == true }

    /// Returns the confirmed rows that no longer have a purpose.
    func expired(at now: Timestamp) -> [OutboxRow] {
        rows.values.filter { $0.state == .confirmed && $0.isInCache && !isRecent($0, now) }
    }

    /// A time in the future is from before the clock was set back.
    private func isRecent(_ row: OutboxRow, _ now: Timestamp) -> Bool {
        guard let confirmed = row.confirmed else { return false }
        return confirmed <= now && now < confirmed + Self.confirmationPriority
    }

    /// Returns a photo with the state of its row, in the form for clients.
    package func decorate(_ photo: Photo) -> Photo {
        guard let row = self[photo.id] else { return photo }
        var photo = photo
        photo.isLiked = row.shown ?? photo.isLiked
        photo.isPending = row.isPending && row.isWanted != photo.isLiked
        return photo
    }

    // MARK: Calls

    /// The consequence of a call.
    enum Decision: Equatable {
        /// The photo has the wanted state, and nothing else is pending.
        case unchanged
        /// The wanted state is pending already.
        case pending
        /// The pending state was not sent, and is no longer wanted.
        case withdraw(OutboxRow)
        /// The row has to be stored before the reply.
        case store(OutboxRow)
    }

    /// Decides a call.
    ///
    /// - Parameters:
    ///   - photo: The photo.
    ///   - wanted: The wanted state; nil for the opposite of the present one. A pending state counts as confirmed.
    ///   - cached: The state in the cache; nil if the photo is not cached and cannot be fetched now.
    ///   - isLocal: True if the service has no likes.
    /// - Returns: The new state, and what the owner has to do.
    func decide(
        _ photo: PhotoID, _ wanted: Bool?, cached: Bool?, isLocal: Bool
    ) -> (isWanted: Bool, Decision) {
        let row = self[photo]
        let current = row?.shown ?? cached
        let pending = row.flatMap { $0.isPending ? $0.isWanted : nil }
        let isWanted = wanted ?? !(pending ?? current ?? false)
        if pending == isWanted { return (isWanted, .pending) }
        if current == isWanted, row?.state != .sending {
            guard let row, row.isPending else { return (isWanted, .unchanged) }
            return (isWanted, .withdraw(row))
        }
        var new = OutboxRow(
            photo: row?.photo ?? photo, isWanted: isWanted, position: lastPosition + 1)
        if isLocal {
            new.state = .local
        } else if let row, row.state != .local {
            new = row
            (new.isWanted, new.position, new.isRetried) = (isWanted, lastPosition + 1, false)
            // A request of the earlier row may reach the service.
            if !row.isPending { (new.state, new.isMarked) = (.queued, false) }
        }
        new.isPhotoKnown = cached != nil
        return (isWanted, .store(new))
    }

    /// Inserts a row in place of the one of its like group.
    package mutating func insert(_ row: OutboxRow) {
        rows[likeGroup(row.photo)] = row
        lastPosition = max(lastPosition, row.position)
    }

    /// Changes a row.
    mutating func update(_ photo: PhotoID, _ change: (inout OutboxRow) -> Void) {
        guard var row = self[photo] else { return }
        change(&row)
        rows[likeGroup(photo)] = row
    }

    /// Removes the row of a photo.
    mutating func remove(_ photo: PhotoID) {
        if rows.removeValue(forKey: likeGroup(photo)) != nil { removals += 1 }
    }

    // MARK: Delivery

    /// Records that the service confirmed a state.
    ///
    /// - Returns: True if it is the state that is wanted now.
    mutating func confirm(_ photo: PhotoID, _ isLiked: Bool, at now: Timestamp) -> Bool {
        confirmations += 1
        let confirmations = confirmations
        update(photo) { row in
            row.known = isLiked
            row.confirmed = now
            row.confirmation = confirmations
            row.isInCache = false
            row.isAgreed = false
            row.isPhotoKnown = true
            row.state = row.isWanted == isLiked ? .confirmed : .queued
            (row.isMarked, row.isRetried) = (false, false)
        }
        return self[photo]?.state == .confirmed
    }

    /// Ends a pending state that was refused or withdrawn: the state before remains.
    mutating func revert(_ photo: PhotoID) {
        guard let known = self[photo]?.known else { return remove(photo) }
        update(photo) { row in
            row.isWanted = known
            row.state = .confirmed
        }
    }

    // MARK: Answers of the service

    /// A request whose answer has liked states: the value of ``confirmations`` at its start, and true if a client requested
    /// the answer, which is believed then.
    package typealias Request = (confirmations: Int, isExplicit: Bool)

    /// Returns a request that starts now.
    package var request: Request { (confirmations, false) }

    /// Returns the liked states that the answer to a request does not change: the state of a photo; nil if the answer is
    /// believed, or the whole answer.
    package func overlay(
        for request: Request, at now: Timestamp
    ) -> (@Sendable (PhotoID) -> Bool?)? {
        if rows.isEmpty { return nil }
        return { photo in
            guard let row = self[photo], !believes(request, about: row, now) else { return nil }
            return row.shown
        }
    }

    private func believes(_ request: Request, about row: OutboxRow, _ now: Timestamp) -> Bool {
        guard row.state != .local, !row.isRetried, row.confirmation <= request.confirmations
        else { return false }
        return request.isExplicit || row.isAgreed || row.isInCache && !isRecent(row, now)
    }

    /// Records the states of photos in an answer of the service, which the cache has now.
    ///
    /// - Returns: The photos of the rows that the database no longer needs.
    mutating func reconcile(
        _ states: [PhotoID: Bool], of request: Request, at now: Timestamp
    ) -> [PhotoID] {
        var settled: [PhotoID] = []
        for (photo, isLiked) in states {
            guard let row = self[photo], let known = row.known,
                row.confirmation <= request.confirmations
            else { continue }
            if known == isLiked {
                guard !row.isAgreed else { continue }
                update(photo) { row in
                    row.isAgreed = true
                    row.isInCache = true
                }
            } else if believes(request, about: row, now) {
                update(photo) { row in
                    row.known = nil
                    row.confirmed = nil
                }
                if row.state == .confirmed { remove(photo) }
            } else {
                continue
            }
            if row.state == .confirmed { settled.append(row.photo) }
        }
        return settled
    }
}
