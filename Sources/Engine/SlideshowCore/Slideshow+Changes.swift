package import EngineModel
internal import ProviderKit
internal import System

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

    /// Changes a setting with which photos are read from the top.
    private func changeOrder(_ change: (inout SlideshowSettings) -> Void) async throws {
        let isOther = try await commit { playlist in
            let before = playlist.settings
            change(&playlist.settings)
            guard playlist.settings != before else { return false }
            playlist.reorder()
            // This call precedes the deletion of the known photos, so that no page of the old source is added after it.
            invalidate()
            reader.reset()
            lastParts = photos.parts(of: playlist.settings.sources[0])
            return true
        }
        photosMayBeAvailable(isUnknown: isOther)
    }

    /// Sets the size of the image. The image of the current photo remains until the one in the new size is fetched, for
    /// which this call waits a moment.
    package func setImageSize(_ name: String) async throws {
        let size = try ImageSize(parsing: name, "size")
        let isOther = try await commit { playlist in
            guard size != playlist.settings.imageSize else { return isImageOutdated }
            playlist.settings.imageSize = size
            invalidate()
            isImageOutdated = true
            return true
        }
        guard isOther else { return }
        photosMayBeAvailable()
        let refreshed = refresh()
        await wait(atMost: replacementTimeLimit) { await refreshed.value }
    }

    // MARK: Hidden photos

    /// The hidden photos, which are common to all slideshows.
    package var hidden: [CombinedPhotoID] { hiddenPhotos.ids }

    /// Excludes a photo from all slideshows. A hidden photo that is shown again is replaced, too.
    ///
    /// - Throws: The errors of ``SlideshowPhotos/photo(_:isCached:)`` for a photo that was not shown; ``StorageError``.
    ///   Nothing is changed then.
    package func hide(_ text: String) async throws {
        let id = try parse(text)
        if !playlist.contains(id) {
            guard !hiddenPhotos.contains(id) else { return try await hiddenPhotos.checkStore() }
            _ = try await photos.photo(id, isCached: false)
        }
        if playlist.current?.id == id {
            await prepareReplacement(of: { $0 == id }, callTimeLimit / 2)
        }
        let number = try await hiddenPhotos.hide(id)
        // Once a photo is hidden, it leaves each playlist at the latest at the next start.
        let isForced = number != nil
        try await leave(id, number, isForced: isForced)
        let others = hiddenPhotos.slideshows().filter { $0 !== self }.map { other in
            Task {
                do {
                    try await other.leave(id, number, isForced: isForced)
                } catch EngineError.notFound {
                    // The other slideshow was removed meanwhile.
                }
            }
        }
        for other in others { try await other.value }
        photos.keepIDs()
    }

    /// Removes a photo that was hidden.
    private func leave(_ id: CombinedPhotoID, _ number: Int64?, isForced: Bool) async throws {
        let isReplaced = try await remove(where: { $0 == id }, isForced: isForced) {
            $0.hide(id, number)
        }
        await wait(atMost: replacementTimeLimit) { [self] in
            if !isReplaced { await showAny() }
            // All other photos may be hidden as well.
            if playlist.current == nil, playlist.future.isEmpty { await look() }
        }
        onChange()
    }

    /// Includes a hidden photo again.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if the photo is not hidden; ``StorageError``.
    package func unhide(_ text: String) async throws {
        try await hiddenPhotos.unhide(text)
        for slideshow in hiddenPhotos.slideshows() {
            slideshow.photosMayBeAvailable()
            slideshow.onChange()
        }
        photos.keepIDs()
    }

    // MARK: Accounts and photos

    /// Applies a change of the accounts, their sessions or their default sources.
    package func accountsChanged() {
        let wanted = photos.parts(of: source)
        let loggedOut = playlist.accounts.union(playlist.parts.keys)
            .filter { !photos.isLoggedIn($0) }
        if !loggedOut.isEmpty { Task { await logOut(loggedOut) } }
        guard wanted != lastParts else {
            if isExhausted { photosMayBeAvailable() }
            return
        }
        checkSourceSoon()
        sourcePartsChanged()
    }

    /// Applies a change of the parts of the source.
    func sourcePartsChanged() {
        let wanted = photos.parts(of: source)
        // Another source of the same account has another order.
        let editions = Dictionary(uniqueKeysWithValues: lastParts.map { ($0.account, $0.edition) })
        let isOther = wanted.contains { part in
            editions[part.account].map { $0 != part.edition } ?? false
        }
        if isOther { invalidate() }
        lastParts = wanted
        if let id = candidate?.shown.id, !photos.isLoggedIn(id.account) { candidate = nil }
        updateWatch()
        photos.keepIDs()
        // Whether there is a photo is unknown before a search if some are hidden.
        photosMayBeAvailable(isUnknown: playlist.current == nil && !hidden.isEmpty)
        onChange()
    }

    /// Removes the photos of accounts that logged out.
    package func logOut(_ accounts: Set<AccountID>) async {
        accounts.forEach(reader.forget)
        await removeAndReplace({ accounts.contains($0.account) }, { $0.logOut(accounts) })
    }

    /// Deletes all data about an account that was removed.
    package func accountRemoved(_ account: AccountID) async {
        reader.forget(account)
        await removeAndReplace(
            { $0.account == account },
            { playlist in
                if playlist.settings.hasSource(of: account) {
                    invalidate()
                    reader.reset()
                }
                playlist.forget(account)
            })
        accountsChanged()
    }

    /// Removes photos that no longer exist.
    func removePhotos(_ ids: Set<CombinedPhotoID>) async {
        await removeAndReplace(ids.contains, { $0.remove(ids) })
    }

    /// Removes photos. Another photo that has to be fetched replaces the current one later.
    private func removeAndReplace(
        _ isRemoved: (CombinedPhotoID) -> Bool, _ transition: (inout Playlist) -> Void
    ) async {
        await logging {
            if try await !remove(where: isRemoved, transition) { Task { await showAny() } }
        }
    }

    /// Checks the current photo if it is of an account whose photos may be other ones, for example of another folder.
    private func checkCurrent(of account: AccountID) {
        guard playlist.current?.id.account == account, photos.isLoggedIn(account) else { return }
        Task { await checkCurrent() }
    }

    /// Repeats a failed search, or a failed fetch of the current image, because an account or the network may be available.
    package func conditionsChanged() {
        // After a failed fetch, its pause leads to the next one.
        if retry == nil { refresh() }
        if isExhausted { photosMayBeAvailable() }
    }

    /// Repeats a failed fetch of the current image without its pause when the account of the photo becomes ready.
    private func stateChanged(of account: AccountID) {
        if playlist.current?.id.account == account {
            let isReady = photos.isReady(account)
            if isReady, !wasReady {
                retry?.cancel()
                retry = nil
            }
            wasReady = isReady
        }
        conditionsChanged()
    }

    /// Applies an event of an account.
    package func handle(_ event: AccountEvent, of account: AccountID) {
        switch event {
        case .changed(.session), .changed(.settings):
            // Another session may describe the photo in another way.
            if candidate?.shown.id.account == account { candidate = nil }
            accountsChanged()
            checkCurrent(of: account)
            stateChanged(of: account)
        case .changed(.state): stateChanged(of: account)
        case .changed(.feed):
            conditionsChanged()
            checkCurrent(of: account)
        case .updated(let source, let new):
            // The date may be another one.
            accountsChanged()
            if settings.hasSource(of: account) { checkSourceSoon() }
            reader.sourceChanged(account, source, new: new)
        case .photosChanged(let photos):
            update(Dictionary(photos.map { (CombinedPhotoID(account, $0.id), $0) }) { $1 })
            reader.addSized(account, photos)
            // Any photo may have changed.
            if photos.isEmpty { checkCurrent(of: account) }
        case .photosRemoved(let photos):
            if settings.hasSource(of: account) { checkSourceSoon() }
            let ids = Set(photos.map { CombinedPhotoID(account, $0) })
            Task { await removePhotos(ids) }
        default: break
        }
    }
}
