internal import ProviderKit
internal import Quoting

/// The steps from photo to photo.
extension Slideshow {
    /// Shows the next photo.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` without any photo; otherwise the error of the last photo that could not be
    ///   fetched.
    package func next() async throws {
        requestedSteps += 1
        try await navigation.run { try await step() }
    }

    /// Shows the photo that was shown before the current one. Photos that can no longer be shown are skipped.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` if there is none.
    package func previous() async throws {
        requestedSteps += 1
        try await navigation.run {
            guard !state.past.isEmpty else {
                throw EngineError.notFound("No photo was shown before this one.")
            }
            var search = RunningSearch()
            for id in state.past.reversed() {
                guard let shown = try await attempt(id, &search) else { continue }
                if try await commit({ state in (state.goBack(to: shown), [.shown(id)]) }) {
                    return stepped()
                }
            }
            throw failure(of: search.limits)
        }
    }

    /// Shows a photo.
    ///
    /// - Throws: ``EngineError/notFound(_:)`` or ``ProviderError/notFound(_:)`` if it does not exist; the errors of its
    ///   image.
    package func show(_ text: String) async throws {
        let id = try parse(text)
        requestedSteps += 1
        try await navigation.run {
            // Without a network, the error of the fetch states the reason.
            guard let shown = try await load(id, isCached: photos.isMetered) else {
                throw Self.notCached
            }
            try await commit { state in
                state.show(shown)
                return ((), [.shown(id)])
            }
            stepped()
        }
    }

    func parse(_ text: String) throws -> CombinedPhotoID {
        guard let id = CombinedPhotoID(text) else {
            throw EngineError.notFound("There is no photo \(text.quoted).")
        }
        return id
    }

    /// Shows the next photo: of ``SlideshowState/future``, or of the order.
    func step() async throws {
        var search = RunningSearch()
        for id in state.future {
            guard let shown = try await attempt(id, &search) else { continue }
            if try await commit({ state in (state.goForward(to: shown), [.shown(id)]) }) {
                return stepped()
            }
        }
        // The candidate may be removed or hidden while it is about to be shown. Ten repetitions are unlikely.
        for _ in 0..<10 {
            try await findCandidate()
            await pinImages()
            guard candidate != nil else { continue }
            let isShown = try await commit { state in takeCandidate(&state) }
            if isShown { return stepped() }
        }
        throw Self.noPhoto
    }

    /// Shows the next photo of the order, if it is ready.
    func takeCandidate(
        _ state: inout SlideshowState
    ) -> (Bool, [SlideshowTables.Change]) {
        guard let candidate, isUsable(candidate, state) else {
            self.candidate = nil
            return (false, [])
        }
        self.candidate = nil
        state.advance(to: candidate.shown)
        if let cursor = candidate.cursor { state.cursor = cursor }
        return (true, [.shown(candidate.shown.id)])
    }

    private func isUsable(_ candidate: Candidate, _ state: SlideshowState) -> Bool {
        !state.isHidden(candidate.shown.id) && photos.isLoggedIn(candidate.shown.id.account)
    }

    private func stepped() {
        timer?.restart()
        prepareIfActive()
        readAhead()
    }
}
