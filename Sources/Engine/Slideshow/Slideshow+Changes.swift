package import Accounts
internal import ProviderKit
internal import Quoting

/// The changes of the settings, of the hidden photos, and of the accounts.
extension Slideshow {
    package func setPaused(_ isPaused: Bool) async throws {
        try await commit { $0.settings.isPaused = isPaused }
    }

    /// Sets the seconds per photo; 0 for no timer.
    package func setInterval(seconds: UInt32) async throws {
        guard seconds == 0 || seconds >= SlideshowSettings.shortestIntervalSeconds else {
            throw EngineError.invalidArgument(
                "The interval is 0 or at least \(SlideshowSettings.shortestIntervalSeconds) seconds, not \(seconds)."
            )
        }
        try await commit { $0.settings.intervalSeconds = seconds }
    }

    package func setShuffled(_ isShuffled: Bool) async throws {
        try await changeOrder { $0.isShuffled = isShuffled }
    }

    /// Sets the sources. The current photo remains until the next step.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` or ``ProviderError/notFound(_:)`` for a source that does not exist;
    ///   ``EngineError/invalidArgument(_:)`` for another number of sources, or a source that is there twice.
    package func setSources(_ sources: [SlideshowSource]) async throws {
        guard 1...SlideshowSettings.maximumSources ~= sources.count,
            Set(sources).count == sources.count
        else {
            throw EngineError.invalidArgument(
                "A slideshow has 1 to \(SlideshowSettings.maximumSources) sources, none of them twice."
            )
        }
        for source in sources { try await photos.check(source) }
        try await changeOrder { $0.sources = sources }
        await checkSource()
    }

    /// Sets the orientation of the photos that are shown. The current photo remains until the next step.
    package func setOrientation(_ name: String) async throws {
        let orientation = try SlideshowOrientation(parsing: name, "orientation")
        try await changeOrder { $0.orientation = orientation }
    }

    /// Changes a setting that begins a new round.
    private func changeOrder(_ change: (inout SlideshowSettings) -> Void) async throws {
        try await commit { state in
            let before = state.settings
            change(&state.settings)
            guard state.settings != before else { return }
            state.begin(0)
            // This call precedes the deletion of the known photos, so that no page of the old source is added after it.
            invalidate()
            reader.reset()
            lastParts = photos.parts(of: state.settings.sources[0])
        }
        photosMayBeAvailable()
    }

    /// Sets the size of the image. The current photo is shown in the new size, if that can be fetched.
    package func setImageSize(_ name: String) async throws {
        let size = try ImageSize(parsing: name, "size")
        try await navigation.run {
            guard size != settings.imageSize else { return }
            let resized = await loadCurrentImage(size)
            try await commit { state in
                state.settings.imageSize = size
                invalidate()
                state.replaceImage(resized)
            }
        }
        photosMayBeAvailable()
    }

    // MARK: Hidden photos

    /// Excludes a photo from the slideshow. A hidden photo that is shown again is replaced, too.
    ///
    /// - Throws: The errors of ``SlideshowPhotos/photo(_:isCached:)`` for a photo that was not shown.
    /// - Returns: The photo; nil if it was hidden before.
    @discardableResult
    package func hide(_ text: String) async throws -> CombinedPhotoID? {
        let id = try parse(text)
        if state.current?.id != id, !state.past.contains(id), !state.future.contains(id) {
            guard !state.isHidden(id) else { return nil }
            _ = try await photos.photo(id, isCached: false)
        }
        try await hide(id)
        return id
    }

    /// Excludes a photo that exists.
    package func hide(_ id: CombinedPhotoID) async throws {
        // The next photo is prepared before, so that there is one change for clients.
        if state.current?.id == id, state.future.isEmpty {
            try? await findCandidate()
        }
        try await remove(where: { $0 == id }, { $0.hide(id) })
        // All other photos may be hidden as well.
        if state.current == nil, state.future.isEmpty, !isExhausted {
            try? await findCandidate()
        }
    }

    /// Includes a hidden photo again.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if the photo is not hidden.
    package func unhide(_ text: String) async throws {
        try await commit { state in
            guard let id = CombinedPhotoID(text), state.unhide(id) else {
                throw EngineError.notFound("The photo \(text.quoted) is not hidden.")
            }
        }
        isExhausted = false
        photosMayBeAvailable()
        onChange()
    }

    // MARK: Accounts and photos

    /// Applies a change of the accounts, their sessions or their default sources.
    package func accountsChanged() {
        let wanted = photos.parts(of: source)
        if !loggedOut.isEmpty { Task { await removeLoggedOut() } }
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

    /// The accounts of photos of the history that logged out.
    private var loggedOut: Set<AccountID> { state.accounts.filter { !photos.isLoggedIn($0) } }

    private func removeLoggedOut() async {
        let accounts = loggedOut
        // With a later login, the photos are read again.
        accounts.forEach(reader.forget)
        await logging {
            try await remove(where: { accounts.contains($0.account) }, { $0.logOut(accounts) })
        }
    }

    /// Deletes all data about an account that was removed.
    package func accountRemoved(_ account: AccountID) {
        if settings.hasSource(of: account) {
            invalidate()
            reader.reset()
        }
        reader.forget(account)
        Task {
            await logging {
                try await remove(where: { $0.account == account }, { $0.forget(account) })
            }
            accountsChanged()
        }
    }

    /// Removes photos that no longer exist.
    func removePhotos(_ ids: Set<CombinedPhotoID>) async {
        await logging { try await remove(where: ids.contains, { $0.remove(ids) }) }
    }

    /// Applies changed descriptions of photos.
    private func photosChanged(_ account: AccountID, _ changed: [Photo]) {
        let ids = changed.map { CombinedPhotoID(account, $0.id) }
        update(Dictionary(zip(ids, changed)) { $1 })
        reader.addSized(account, changed)
    }

    /// Repeats a failed start or search, because an account or the network may be available.
    package func conditionsChanged() {
        if photo == nil, state.current != nil { start() }
        if isExhausted { photosMayBeAvailable() }
    }

    /// Applies an event of an account.
    package func handle(_ event: AccountEvent, of account: AccountID) {
        switch event {
        case .changed(.session), .changed(.settings):
            // Another session may describe the photo in another way.
            if candidate?.shown.id.account == account { candidate = nil }
            accountsChanged()
        case .changed(.state), .changed(.feed): conditionsChanged()
        case .updated(let source, let new):
            if settings.hasSource(of: account) { checkSourceSoon() }
            reader.sourceChanged(account, source, new: new)
        case .photosChanged(let photos): photosChanged(account, photos)
        case .photosRemoved(let photos):
            if settings.hasSource(of: account) { checkSourceSoon() }
            let ids = Set(photos.map { CombinedPhotoID(account, $0) })
            Task { await removePhotos(ids) }
        default: break
        }
    }
}
