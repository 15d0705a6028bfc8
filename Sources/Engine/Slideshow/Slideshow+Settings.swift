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

    /// Sets the source. The current photo remains until the next step.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` or ``ProviderError/notFound(_:)`` for a source that does not exist.
    package func setSource(_ source: SlideshowSource) async throws {
        try await photos.check(source)
        try await changeOrder { $0.source = source }
        await checkSource()
    }

    /// Changes a setting that begins a new round.
    private func changeOrder(_ change: (inout SlideshowSettings) -> Void) async throws {
        try await commit { state in
            let before = state.settings
            change(&state.settings)
            guard state.settings != before else { return ((), []) }
            state.cursor = ""
            // This call precedes the deletion of the known photos, so that no page of the old source is added after it.
            invalidate()
            parts = [:]
            arrivals = [:]
            lastParts = photos.parts(of: state.settings.source)
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
    package func hide(_ text: String) async throws {
        let id = try parse(text)
        if state.current?.id != id, !state.past.contains(id), !state.future.contains(id) {
            guard !state.isHidden(id) else { return }
            _ = try await photos.photo(id, isCached: false)
        }
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
