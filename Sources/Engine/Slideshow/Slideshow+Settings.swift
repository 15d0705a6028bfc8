internal import ProviderKit
internal import Quoting

/// The settings and the hidden photos.
extension Slideshow {
    package func setPaused(_ isPaused: Bool) async throws {
        try await change { $0.settings.isPaused = isPaused }
    }

    /// Sets the seconds per photo; 0 for no timer.
    package func setInterval(seconds: UInt32) async throws {
        guard seconds == 0 || seconds >= SlideshowSettings.shortestIntervalSeconds else {
            throw EngineError.invalidArgument(
                "The interval is 0 or at least \(SlideshowSettings.shortestIntervalSeconds) seconds, not \(seconds)."
            )
        }
        try await change { $0.settings.intervalSeconds = seconds }
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
        guard let orientation = SlideshowOrientation(rawValue: name) else {
            let names = SlideshowOrientation.allCases.map(\.rawValue).joined(separator: ", ")
            throw EngineError.invalidArgument(
                "The orientation is one of \(names), not \(name.quoted).")
        }
        try await changeOrder { $0.orientation = orientation }
    }

    /// Changes a setting that begins a new round.
    private func changeOrder(_ change: (inout SlideshowSettings) -> Void) async throws {
        try await commit { state in
            let before = state.settings
            change(&state.settings)
            guard state.settings != before else { return ((), []) }
            state.begin(0)
            // This call precedes the deletion of the known photos, so that no page of the old source is added after it.
            invalidate()
            parts = [:]
            arrivals = [:]
            lastParts = photos.parts(of: state.settings.sources[0])
            return ((), [.clear])
        }
        photosMayBeAvailable()
    }

    /// Sets the size of the image. The current photo is shown in the new size, if that can be fetched.
    package func setImageSize(_ name: String) async throws {
        guard let size = ImageSize(rawValue: name) else {
            let sizes = ImageSize.allCases.map(\.rawValue).joined(separator: ", ")
            throw EngineError.invalidArgument("The size is one of \(sizes), not \(name.quoted).")
        }
        try await navigation.run {
            guard size != settings.imageSize else { return }
            var resized: SlideshowState.Shown?
            if var shown = state.current {
                let mayFetch = photos.mayFetch(shown.id.account)
                if let image = try? await photos.image(shown.id, size, isCached: !mayFetch) {
                    shown.image = image
                    await pin(shown)
                    resized = shown
                }
            }
            try await change { state in
                state.settings.imageSize = size
                invalidate()
                if let resized, resized.id == state.current?.id {
                    state.replaceImage(resized.image)
                }
            }
        }
        photosMayBeAvailable()
    }

    // MARK: Hidden photos

    /// Excludes a photo from the slideshow. A hidden photo that is shown again is replaced, too.
    ///
    /// - Throws: The errors of ``SlideshowPhotos/photo(_:isCached:)`` for a photo that was not shown.
    ///
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
    func hide(_ id: CombinedPhotoID) async throws {
        // The next photo is prepared before, so that there is one change for clients.
        if state.current?.id == id, state.future.isEmpty, candidate == nil {
            try? await findCandidate()
        }
        try await remove([], isCandidateRemoved: { $0 == id }) { $0.hide(id) }
        // All other photos may be hidden as well.
        if candidate == nil, state.current == nil, state.future.isEmpty, !isExhausted {
            try? await findCandidate()
        }
    }

    /// Includes a hidden photo again.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if the photo is not hidden.
    package func unhide(_ text: String) async throws {
        try await change { state in
            guard let id = CombinedPhotoID(text), state.unhide(id) else {
                throw EngineError.notFound("The photo \(text.quoted) is not hidden.")
            }
        }
        isExhausted = false
        photosMayBeAvailable()
        onChange()
    }
}
