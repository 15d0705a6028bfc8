import EngineModel
import LoopbackHTTP
import ProviderKit
import Storage
import TestSupport

@testable import SlideshowCore

/// A history of a slideshow: clients that attach, step, hide and change settings; photos that arrive and vanish; images
/// that cannot be fetched; accounts that log out; and restarts.
///
/// After each step it compares the slideshow with a reference model: the photo that is shown or prepared, the history,
/// the hidden photos and the number of timers.
@MainActor
final class SlideshowSimulation {
    enum Action: CaseIterable {
        case next, nextAgain, previous, show, hide, unhide, due
        case attach, detach, pause, interval, shuffle, source, orientation
        case arrive, arriveSeveral, remove, measure, fail, repair, unreachable, logOut, restart
        case refuse
    }

    private let seed: UInt64
    private var random: SeededRandom
    private let fixture: SlideshowFixture
    private var photos: FakeSlideshowPhotos { fixture.photos }
    private var slideshow: Slideshow { fixture.slideshow }
    private var log: [String] = []
    private var photoCount = 0

    // The model.
    private var past: [CombinedPhotoID] = []
    private var current: CombinedPhotoID?
    private var future: [CombinedPhotoID] = []
    private var hidden: Set<CombinedPhotoID> = []
    private var clients: Set<String> = []
    /// The photos that were shown or skipped in this round.
    private var round: Set<CombinedPhotoID> = []
    /// The number of rounds at the last check.
    private var lastRound: Int64 = 0
    /// The photos that arrived in this round and were not shown. A photo that is hidden and unhidden remains new.
    private var arrived: Set<CombinedPhotoID> = []
    /// The new photos of accounts that logged out. They remain new if no search ran before the next login.
    private var formerlyArrived: Set<CombinedPhotoID> = []
    /// The candidate that was checked already.
    private var checked: CombinedPhotoID?

    /// Runs a history.
    ///
    /// - Returns: The steps and the violated guarantee; nil if all guarantees hold.
    static func run(seed: UInt64) async -> String? {
        let simulation = SlideshowSimulation(seed: seed)
        do {
            try await simulation.run()
            return nil
        } catch {
            return "seed \(seed): \(error)\n  \(simulation.log.joined(separator: ", "))"
        }
    }

    private init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        var accounts: [FakeSlideshowPhotos.FakeAccount] = []
        for index in 0..<Int.random(in: 1...2, using: &random) {
            var account = FakeSlideshowPhotos.FakeAccount(id: AccountID(stored: "account\(index)"))
            account.isLocal = Bool.random(using: &random)
            accounts.append(account)
        }
        fixture = SlideshowFixture(FakeSlideshowPhotos(accounts), seed: seed)
        photos.pageLimit = Int.random(in: 1...5, using: &random)
        for _ in 0..<Int.random(in: 0...12, using: &random) { _ = addPhoto() }
    }

    private func addPhoto() -> CombinedPhotoID {
        photoCount += 1
        let id = PhotoID("\(photoCount)")
        switch Int.random(in: 0..<6, using: &random) {
        case 0...1: photos.portraits.insert(id)
        case 2: photos.unknown.insert(id)
        default: break
        }
        return photos.add(
            "\(photoCount)", to: Int.random(in: 0..<photos.accounts.count, using: &random))
    }

    private func run() async throws {
        for _ in 0..<Int.random(in: 5...40, using: &random) {
            let action = Action.allCases.randomElement(using: &random) ?? .next
            log.append("\(action)")
            try await perform(action)
            await fixture.settle()
            round.formUnion(photos.failures)
            arrived.subtract(photos.failures)
            photos.failures = []
            try adoptFirst()
            try await checkRound()
            try checkCandidate()
            try checkState()
            try await checkTimers()
        }
        slideshow.timer?.stop()
        slideshow.invalidate()
    }

    // MARK: Actions

    private func perform(_ action: Action) async throws {
        switch action {
        case .next, .nextAgain: try await step { try await $0.next() }
        case .previous:
            let before = (past, current, future)
            do { try await slideshow.previous() } catch {
                guard let gone = before.0.first(where: isShowable) else { return adoptHistory() }
                throw Violation("previous fails (\(error)) although \(gone) can be shown")
            }
            guard let shown = slideshow.playlist.current?.id, before.0.contains(shown) else {
                throw Violation("previous shows a photo that was not shown before")
            }
            round.insert(shown)
            adoptHistory()
        case .show:
            guard let id = anyPhoto else { return }
            do { try await slideshow.show(id.text) } catch {
                try ensure(!isShowable(id), "show fails: \(error)")
                // Only a search skips a photo in the round.
                photos.failures.remove(id)
                return
            }
            if let current, current != id { past.append(current) }
            current = id
            future = []
            recordShown(id)
        case .hide:
            guard let id = Bool.random(using: &random) ? current : anyPhoto else { return }
            _ = try? await slideshow.hide(id.text)
            await fixture.settle()
            guard slideshow.hidden.contains(id) else { return }
            hidden.insert(id)
            try await leave { $0 == id }
        case .unhide:
            guard let id = hidden.sorted(by: { $0.text < $1.text }).first else { return }
            try await slideshow.unhide(id.text)
            hidden.remove(id)
        case .due:
            guard !clients.isEmpty, !slideshow.settings.isPaused,
                slideshow.settings.intervalSeconds > 0
            else { return }
            try await step { [fixture] _ in await fixture.fireTimer() }
        case .attach:
            let client = ":1.\(Int.random(in: 1...3, using: &random))"
            let isNew = clients.insert(client).inserted
            let before = current
            // A photo may be prepared without a client, if some are hidden.
            let prepared = slideshow.candidate?.shown.id
            try await slideshow.attach(client)
            await fixture.settle()
            // A second call of a client has no effect.
            if isNew, before == nil { try adoptStep(from: nil, prepared: prepared) }
        case .detach:
            guard let client = clients.min() else { return }
            clients.remove(client)
            try await slideshow.detach(client)
        case .pause: try await slideshow.setPaused(Bool.random(using: &random))
        case .interval:
            try await slideshow.setInterval(
                seconds: [0, 5, 60, 1800].randomElement(using: &random) ?? 0)
        case .shuffle:
            try await changeOrder { try await $0.setShuffled(!$0.settings.isShuffled) }
        case .source:
            let account = Bool.random(using: &random) ? photos.accounts.first?.id : nil
            guard slideshow.settings.source.account != account,
                account.map(photos.isLoggedIn) ?? true
            else { return }
            try await changeOrder {
                try await $0.setSource(SlideshowSource(account: account, source: SourceID("")))
            }
        case .orientation:
            let orientation = SlideshowOrientation.allCases.randomElement(using: &random) ?? .any
            guard slideshow.settings.orientation != orientation else { return }
            try await changeOrder { try await $0.setOrientation(orientation.rawValue) }
        case .measure:
            guard let id = anyPhoto, photos.unknown.remove(id.photo) != nil else { return }
            slideshow.handle(.photosChanged([photos.described(id.photo)]), of: id.account)
            // It may precede new photos.
            formerlyArrived.insert(id)
        case .refuse: try await refuse()
        case .arrive: arrive(1)
        case .arriveSeveral: arrive(Int.random(in: 2...4, using: &random))
        case .remove:
            guard let id = anyPhoto, let index = photos.index(id.account) else { return }
            photos.accounts[index].photos[id.photo] = nil
            arrived.remove(id)
            await slideshow.removePhotos([id])
            await fixture.settle()
            try await leave { $0 == id }
        case .fail:
            // A search attempts a limited number of photos. The image of the current photo is also fetched without a search,
            // so it does not fail.
            if let id = anyPhoto, photos.failing.count < 4, id != current,
                id != slideshow.candidate?.shown.id
            {
                photos.failing.insert(id)
                photos.cached.remove(id)
            }
        case .repair: photos.failing = []
        case .unreachable:
            let index = Int.random(in: 0..<photos.accounts.count, using: &random)
            photos.accounts[index].isUnreachable.toggle()
        case .logOut:
            let index = Int.random(in: 0..<photos.accounts.count, using: &random)
            photos.accounts[index].isLoggedIn.toggle()
            let account = photos.accounts[index].id
            round = round.filter { $0.account != account }
            formerlyArrived.formUnion(arrived.filter { $0.account == account })
            arrived = arrived.filter { $0.account != account }
            photos.served = photos.served.filter { $0.account != account }
            slideshow.accountsChanged()
            if !photos.accounts[index].isLoggedIn {
                // The next photo is searched for within a time limit, which is awaited on another thread.
                try await poll { slideshow.playlist.current?.id.account != account }
            }
            await fixture.settle()
            if !photos.accounts[index].isLoggedIn { try await leave { $0.account == account } }
        case .restart:
            clients = []
            checked = nil
            let before = slideshow.playlist
            try await fixture.restart()
            let after = slideshow.playlist
            try ensure(
                after.settings == before.settings && after.entries == before.entries
                    && after.position == before.position && after.current == before.current,
                "the restart changes \(before) to \(after)")
        }
    }

    /// Requests a step while no playlist can be stored.
    private func refuse() async throws {
        try await fixture.cache.run {
            try $0.execute(
                "CREATE TRIGGER refuse BEFORE INSERT ON playlist_state BEGIN SELECT RAISE(ABORT, ''); END"
            )
        }
        let before = slideshow.playlist
        _ = try? await slideshow.next()
        await fixture.settle()
        let after = slideshow.playlist
        try ensure(
            before.entries == after.entries && before.current == after.current,
            "a step that cannot be stored is shown")
        try await fixture.cache.run { try $0.execute("DROP TRIGGER refuse") }
        // The photos were not skipped durably.
        photos.failures = []
        slideshow.conditionsChanged()
    }

    private var anyPhoto: CombinedPhotoID? {
        photos.accounts.flatMap { account in
            account.photos.keys.map { CombinedPhotoID(account.id, $0) }
        }.sorted { $0.text < $1.text }.randomElement(using: &random)
    }

    private func arrive(_ count: Int) {
        var new: [AccountID: [PhotoID]] = [:]
        let started = slideshow.playlist.parts
        for _ in 0..<count {
            let id = addPhoto()
            new[id.account, default: []].append(id.photo)
            guard isInSource(id), let part = started[id.account],
                !part.cursor.isEmpty || part.hasEnded
            else { continue }
            arrived.insert(id)
        }
        for (account, added) in new {
            slideshow.reader.photosAdded(account, added)
            slideshow.reader.sourceChanged(account, SourceID("all"), new: added.count)
        }
    }

    private func changeOrder(_ change: (Slideshow) async throws -> Void) async throws {
        photos.served = []
        try await change(slideshow)
        future = []
        round = []
        arrived = []
        formerlyArrived = []
        checked = nil
    }

    /// Performs a step forward, and checks the photo that it shows.
    private func step(_ perform: (Slideshow) async throws -> Void) async throws {
        let before = current
        let prepared = slideshow.candidate?.shown.id
        if future.isEmpty {
            do { try await perform(slideshow) } catch {
                await fixture.settle()
                adoptHistory()
                try ensure(open(besides: before).isEmpty, "next fails: \(error)")
                return
            }
            await fixture.settle()
            try adoptStep(from: before, prepared: prepared)
        } else {
            let way = future
            do { try await perform(slideshow) } catch { return adoptHistory() }
            await fixture.settle()
            let shown = slideshow.playlist.current?.id
            if let first = way.first(where: isShowable), shown != first, shown != before {
                throw Violation("next does not go forward to \(first)")
            }
            if let shown { recordShown(shown) }
            adoptHistory()
        }
    }

    /// Checks the photo that a step has shown, and records it.
    private func adoptStep(from before: CombinedPhotoID?, prepared: CombinedPhotoID?) throws {
        guard let shown = slideshow.playlist.current?.id else {
            try ensure(open(besides: nil).isEmpty, "no photo is shown")
            return
        }
        if shown == before {
            try ensure(
                prepared == shown || open(besides: shown).isEmpty,
                "a step does not change the photo")
            recordShown(shown)
            return
        }
        if shown != prepared { try check(shown, "shown") }
        if let before { past.append(before) }
        current = shown
        recordShown(shown)
    }

    /// Removes photos from the model, and adopts the photo that replaces the current one.
    private func leave(_ isGone: (CombinedPhotoID) -> Bool) async throws {
        past.removeAll(where: isGone)
        future.removeAll(where: isGone)
        guard let id = current, isGone(id) else { return }
        current = nil
        let shown = slideshow.playlist.current?.id
        if let shown, isGone(shown) { throw Violation("\(shown) remains although it left") }
        if let shown { recordShown(shown) }
        adoptHistory()
    }

    private func recordShown(_ id: CombinedPhotoID) {
        round.insert(id)
        arrived.remove(id)
        // Any other photo that is prepared remains the next one.
        if checked == id { checked = nil }
    }

    /// Adopts the history after a step whose skipped photos the model does not follow.
    private func adoptHistory() {
        past = slideshow.playlist.past.map(\.id)
        current = slideshow.playlist.current?.id
        future = slideshow.playlist.future.map(\.id)
    }

    // MARK: Checks

    private func isInSource(_ id: CombinedPhotoID) -> Bool {
        guard let index = photos.index(id.account), photos.accounts[index].isLoggedIn,
            photos.accounts[index].photos[id.photo] != nil,
            slideshow.settings.orientation.accepts(photos.described(id.photo))
        else { return false }
        let source = slideshow.settings.source.account
        return source == nil || source == id.account
    }

    /// Returns true if the image can be shown now.
    private func isShowable(_ id: CombinedPhotoID) -> Bool {
        guard let index = photos.index(id.account), photos.accounts[index].isLoggedIn,
            photos.accounts[index].photos[id.photo] != nil
        else { return false }
        // An account whose requests fail shows cached photos only.
        return photos.cached.contains(id)
            || !photos.failing.contains(id) && !photos.accounts[index].isUnreachable
    }

    /// The photos of the source that can be shown and must be shown before any is repeated.
    private func open(besides id: CombinedPhotoID?) -> Set<CombinedPhotoID> {
        let isShuffled = slideshow.settings.isShuffled
        let all =
            isShuffled
            ? photos.served
            : Set(
                photos.accounts.flatMap { account in
                    account.photos.keys.map { CombinedPhotoID(account.id, $0) }
                })
        return all.filter {
            $0 != id && isInSource($0) && isShowable($0) && !hidden.contains($0)
                && !(isShuffled && round.contains($0))
        }
    }

    /// Adopts the first photo, which is shown to attached clients when it becomes available.
    private func adoptFirst() throws {
        guard current == nil, !clients.isEmpty, let shown = slideshow.playlist.current?.id else {
            return
        }
        try check(shown, "shown first")
        recordShown(shown)
        adoptHistory()
    }

    /// Checks that a round began after all photos of the previous one were shown.
    private func checkRound() async throws {
        guard slideshow.playlist.round != lastRound else { return }
        lastRound = slideshow.playlist.round
        guard slideshow.settings.isShuffled else { return }
        let open = open(besides: current)
        try ensure(open.isEmpty, "a round begins before \(open.map(\.text).sorted())")
        // The round may have begun with the current photo, or after it.
        round = try await fixture.shownInRound()
        arrived = []
        formerlyArrived = []
    }

    /// Checks a photo that the slideshow chose.
    private func check(_ id: CombinedPhotoID, _ word: String) throws {
        try ensure(
            isInSource(id) || future.contains(id) || past.contains(id),
            "\(id) is \(word), but not in the source")
        try ensure(!hidden.contains(id), "\(id) is \(word), but hidden")
        guard slideshow.settings.isShuffled else { return }
        // A round that began with this search was checked before.
        let isRepeated =
            round.contains(id) && slideshow.playlist.round == lastRound && id != current
        try ensure(!isRepeated, "\(id) is \(word) twice in a round")
        let new = arrived.filter { isShowable($0) && !hidden.contains($0) && $0 != current }
        if !new.isEmpty, !arrived.contains(id), !formerlyArrived.contains(id) {
            throw Violation("\(id) is \(word) before the new \(new.map(\.text).sorted())")
        }
    }

    /// Checks the next photo when it is prepared. Photos that arrive later do not precede it, even if another photo is
    /// shown first.
    private func checkCandidate() throws {
        let id = slideshow.candidate?.shown.id
        guard id != checked else { return }
        if let id { try check(id, "prepared") }
        checked = id
    }

    private func checkState() throws {
        let state = slideshow.playlist
        try ensure(Set(slideshow.hidden) == hidden, "other photos are hidden")
        try ensure(
            state.current?.id == current,
            "\(state.current?.id.text ?? "-") is shown, not \(current?.text ?? "-")")
        let history = (past: state.past.map(\.id), future: state.future.map(\.id))
        try ensure(history == (past, future), "the history is \(history), not \(past) \(future)")
        if let image = state.current?.image, !photos.pinned.contains(image) {
            throw Violation("the image of the current photo is not protected")
        }
        let isActive = !clients.isEmpty && !state.settings.isPaused
        try ensure(
            isActive || slideshow.preparation == nil,
            "an image is fetched although no client is attached")
    }

    private func checkTimers() async throws {
        let settings = slideshow.settings
        let count = !clients.isEmpty && !settings.isPaused && settings.intervalSeconds > 0 ? 1 : 0
        try ensure(
            await fixture.timerCount(count) == count,
            "\(fixture.clock.sleeperCount) timers run, not \(count)")
    }
}
