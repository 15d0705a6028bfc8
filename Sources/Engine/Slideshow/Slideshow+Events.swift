internal import ProviderKit

/// The reactions to events of the engine.
extension Slideshow {
    /// Applies a change of the accounts, their sessions or their default sources.
    func accountsChanged() {
        let wanted = photos.parts(of: source)
        if state.past.contains(where: { !photos.isLoggedIn($0.account) })
            || state.future.contains(where: { !photos.isLoggedIn($0.account) })
            || state.current.map({ !photos.isLoggedIn($0.id.account) }) == true
        {
            Task { await removeLoggedOut() }
        }
        guard wanted != lastParts else {
            if isExhausted { photosMayBeAvailable() }
            return
        }
        keepIDs()
        checkSourceSoon()
        sourcePartsChanged()
    }

    /// Applies a change of the parts of the source.
    func sourcePartsChanged() {
        let wanted = photos.parts(of: source)
        // Another source of the same account has another order.
        let sources = Dictionary(uniqueKeysWithValues: lastParts.map { ($0.account, $0.source) })
        let isOther = wanted.contains { part in
            sources[part.account].map { $0 != part.source } ?? false
        }
        if isOther { invalidate() }
        lastParts = wanted
        if let id = candidate?.shown.id, !photos.isLoggedIn(id.account) { candidate = nil }
        updateWatch()
        photosMayBeAvailable()
        // Whether there is a photo is unknown before a search if some are hidden.
        if state.current == nil, !state.hidden.isEmpty { Task { try? await findCandidate() } }
        onChange()
    }

    private func removeLoggedOut() async {
        let accounts = Set(
            (state.past + state.future + [state.current?.id].compactMap { $0 }).map(\.account)
        ).filter { !photos.isLoggedIn($0) }
        // With a later login, the photos are read again.
        for account in accounts { parts[account] = nil }
        await removing(accounts.map { .forget($0) }) { state in
            state.remove { accounts.contains($0.account) }
        } isCandidateRemoved: {
            accounts.contains($0.account)
        }
    }

    /// Returns true if one of the chosen sources is of this account only.
    private func hasSource(of account: AccountID) -> Bool {
        settings.sources.contains { $0.account == account }
    }

    /// Deletes all data about an account that was removed.
    func accountRemoved(_ account: AccountID) {
        let isSource = hasSource(of: account)
        if isSource {
            invalidate()
            parts = [:]
        }
        parts[account] = nil
        arrivals[account] = nil
        Task {
            await removing([isSource ? .clear : .forget(account)]) { state in
                state.forget(account)
            } isCandidateRemoved: {
                $0.account == account
            }
            accountsChanged()
        }
    }

    /// Removes photos that no longer exist.
    func removePhotos(_ ids: [CombinedPhotoID]) async {
        let removed = Set(ids)
        await removing([.removed(ids)]) { state in
            state.remove { removed.contains($0) }
        } isCandidateRemoved: {
            removed.contains($0)
        }
    }

    private func removing(
        _ changes: [SlideshowTables.Change], _ transition: (inout SlideshowState) -> Void,
        isCandidateRemoved: (CombinedPhotoID) -> Bool
    ) async {
        do {
            try await remove(
                changes, isCandidateRemoved: isCandidateRemoved, transition: transition)
        } catch {
            logFailure(error)
        }
    }

    /// Applies changed descriptions of photos.
    private func photosChanged(_ account: AccountID, _ changed: [Photo]) {
        var descriptions: [CombinedPhotoID: Photo] = [:]
        for photo in changed {
            descriptions[CombinedPhotoID(account, photo.id)] = photo
        }
        update(descriptions)
        addSized(account, changed)
    }

    /// Repeats a failed start or search, because an account or the network may be available.
    func conditionsChanged() {
        if photo == nil, state.current != nil { start() }
        if isExhausted { photosMayBeAvailable() }
    }
}

extension Slideshow: EngineObserver {
    package func handle(_ event: EngineEvent) {
        switch event {
        case .changed: conditionsChanged()
        case .accountAdded: accountsChanged()
        case .accountRemoved(let account): accountRemoved(account.id)
        case .account(let account, let event): handle(event, of: account.id)
        case .providerAdded, .providerRemoved, .providerChanged, .loginAdded, .loginChanged,
            .loginRemoved, .transferAdded, .transferChanged, .transferRemoved, .slideshowAdded,
            .slideshowRemoved:
            break
        }
    }

    func handle(_ event: AccountEvent, of account: AccountID) {
        switch event {
        case .changed(.session), .changed(.settings): accountsChanged()
        case .changed(.state), .changed(.feed): conditionsChanged()
        case .updated(let source, let new):
            if hasSource(of: account) { checkSourceSoon() }
            sourceChanged(account, source, new: new)
        case .photosChanged(let photos): photosChanged(account, photos)
        case .photosRemoved(let photos):
            if hasSource(of: account) { checkSourceSoon() }
            let ids = photos.map { CombinedPhotoID(account, $0) }
            Task { await removePhotos(ids) }
        case .changed(.profile), .changed(.likes), .likeConfirmed, .likeFailed, .tokenRemains:
            break
        }
    }
}
