internal import ProviderKit

/// Decides what is shown of the troubles there are: one notice a subject and kind, replaced when something
/// is added, withdrawn when it is healed, and never a second new one for a subject in 30 seconds.
///
/// A value that decides: timers and the desktop are its owner's.
nonisolated struct NotificationPolicy {
    /// What its owner is to do.
    enum Step: Hashable {
        /// Show the notice of this number as ``notice(_:)`` has it now, or withdraw it.
        case post(Int)
        /// Call ``restEnded(_:)`` in 30 seconds.
        case rest(NoticeSubject)
    }

    /// What there is about one subject.
    fileprivate struct Page {
        var troubles: [Trouble.Kind: Trouble] = [:]
        var cards: [Card] = []
        /// Whether something new was shown in the last 30 seconds.
        var isResting = false
        /// What came meanwhile, with nothing on the desktop to fold it into.
        var held: Set<Trouble.Kind> = []
    }

    /// A notice, wherever it is.
    fileprivate struct Card {
        enum Place {
            /// On the desktop, or on its way there.
            case shown
            /// Nobody could show it.
            case unseen
            case expired
            case dismissed
        }

        let number: Int
        var kinds: Set<Trouble.Kind>
        var place = Place.shown
    }

    private var pages: [NoticeSubject: Page] = [:]
    private var lastNumber = 0

    /// What is to be seen under a number; nil if nothing is.
    func notice(_ number: Int) -> NotificationContent? {
        guard let (page, card) = find(number), [.shown, .unseen].contains(card.place) else {
            return nil
        }
        return NotificationContent(card.kinds.sorted().compactMap { page.troubles[$0] })
    }

    /// The numbers of all notices.
    var numbers: [Int] { pages.values.flatMap { $0.cards.map(\.number) } }

    // MARK: What happens

    /// Takes note of a trouble.
    mutating func raise(_ trouble: Trouble, about subject: NoticeSubject) -> [Step] {
        change(subject) { page, lastNumber in
            let kind = trouble.kind
            let known = page.troubles[kind]
            guard let index = page.cards.firstIndex(where: { $0.kinds.contains(kind) }) else {
                page.troubles[kind] = trouble.joining(known)
                return page.show([kind], &lastNumber)
            }
            switch page.cards[index].place {
            case .shown:
                page.troubles[kind] = trouble.joining(known)
                return page.troubles[kind] == known ? [] : [.post(page.cards[index].number)]
            case .unseen:
                page.troubles[kind] = trouble.joining(known)
                return page.show(page.cards[index].kinds, &lastNumber)
            case .expired where kind.recurs:
                page.troubles[kind] = trouble.joining(known)
                return page.show([kind], &lastNumber)
            case .dismissed where kind.recurs:
                // What the user has put away does not count again.
                page.troubles[kind] = trouble
                return page.show([kind], &lastNumber)
            case .expired, .dismissed:
                page.troubles[kind] = trouble
                return []
            }
        }
    }

    /// Takes note that a trouble is over.
    mutating func heal(_ kind: Trouble.Kind, about subject: NoticeSubject) -> [Step] {
        amend(kind, about: subject) { _ in nil }
    }

    /// Takes note that a like need not be sent any more, or was sent after all.
    mutating func settle(_ photo: PhotoID, about subject: NoticeSubject) -> [Step] {
        amend(.likes, about: subject) { trouble in
            var trouble = trouble
            trouble.likes.removeAll { $0.photo == photo }
            return trouble.likes.isEmpty ? nil : trouble
        }
    }

    /// Takes note that a subject has no troubles any more.
    mutating func healAll(about subject: NoticeSubject) -> [Step] {
        guard let kinds = pages[subject]?.troubles.keys else { return [] }
        return kinds.flatMap { heal($0, about: subject) }
    }

    /// Changes a trouble that there is; nil ends it.
    private mutating func amend(
        _ kind: Trouble.Kind, about subject: NoticeSubject, _ body: (Trouble) -> Trouble?
    ) -> [Step] {
        guard let trouble = pages[subject]?.troubles[kind] else { return [] }
        return change(subject) { page, _ in
            let amended = body(trouble)
            guard amended != trouble else { return [] }
            page.troubles[kind] = amended
            if amended == nil { page.held.remove(kind) }
            guard let index = page.cards.firstIndex(where: { $0.kinds.contains(kind) }) else {
                return []
            }
            let card = page.cards[index]
            if amended == nil { page.remove([kind]) }
            return card.place == .shown || card.kinds == [kind] && amended == nil
                ? [.post(card.number)] : []
        }
    }

    /// Shows what has come while the subject was to rest.
    mutating func restEnded(_ subject: NoticeSubject) -> [Step] {
        pages[subject]?.isResting = false
        return change(subject) { page, lastNumber in
            let held = page.held
            page.held = []
            return held.isEmpty ? [] : page.show(held, &lastNumber)
        }
    }

    // MARK: What the user and the board do

    mutating func closed(_ number: Int, _ closing: NoticeClosing) {
        place(number, closing == .expired ? .expired : .dismissed)
    }

    /// Takes note that a notice did not reach the desktop: nobody was disturbed by it.
    mutating func notShown(_ number: Int) {
        lost(number)
        guard let subject = subject(of: number) else { return }
        pages[subject]?.isResting = false
    }

    /// Takes note that a notice went with what showed it.
    mutating func lost(_ number: Int) {
        if find(number)?.1.place == .shown { place(number, .unseen) }
    }

    /// Shows what nobody could show before.
    mutating func boardAppeared() -> [Step] {
        var steps: [Step] = []
        for subject in pages.keys {
            let unseen = pages[subject]?.cards.filter { $0.place == .unseen } ?? []
            guard !unseen.isEmpty else { continue }
            steps += change(subject) { page, lastNumber in
                page.show(unseen.reduce(into: []) { $0.formUnion($1.kinds) }, &lastNumber)
            }
        }
        return steps
    }

    /// Takes note that the user has acted on a notice, which is then put away.
    ///
    /// - Returns: What it was about, as far as the action is for it; nil if nothing is left of that. Likes
    ///   are taken out: whoever tries them again raises those anew that fail again.
    mutating func act(
        _ action: NoticeAction, on number: Int
    ) -> (subject: NoticeSubject, troubles: [Trouble], steps: [Step])? {
        guard let subject = subject(of: number), let (page, card) = find(number) else { return nil }
        let troubles = card.kinds.sorted().compactMap { page.troubles[$0] }
            .filter { $0.action == action }
        place(number, .dismissed)
        var steps = [Step.post(number)]
        if troubles.contains(where: { $0.kind == .likes }) { steps += heal(.likes, about: subject) }
        return (subject, troubles, steps)
    }

    // MARK: Looking up

    private func subject(of number: Int) -> NoticeSubject? {
        pages.first { $0.value.cards.contains { $0.number == number } }?.key
    }

    private func find(_ number: Int) -> (Page, Card)? {
        for page in pages.values {
            if let card = page.cards.first(where: { $0.number == number }) { return (page, card) }
        }
        return nil
    }

    private mutating func place(_ number: Int, _ place: Card.Place) {
        guard let subject = subject(of: number),
            let index = pages[subject]?.cards.firstIndex(where: { $0.number == number })
        else { return }
        pages[subject]?.cards[index].place = place
    }

    private mutating func change(
        _ subject: NoticeSubject, _ body: (inout Page, inout Int) -> [Step]
    ) -> [Step] {
        var page = pages[subject] ?? Page()
        let wasResting = page.isResting
        var steps = body(&page, &lastNumber)
        if page.isResting, !wasResting { steps.append(.rest(subject)) }
        pages[subject] = page.troubles.isEmpty && !page.isResting ? nil : page
        return steps
    }
}

nonisolated extension NotificationPolicy.Page {
    /// Puts troubles on the desktop that are not there: into a notice of the last 30 seconds, else into a new
    /// one.
    fileprivate mutating func show(
        _ kinds: Set<Trouble.Kind>, _ lastNumber: inout Int
    ) -> [NotificationPolicy.Step] {
        // In the place of an earlier one of the kind, where that is kept in a list.
        let earlier = cards.first { $0.kinds == kinds }?.number
        let emptied = remove(kinds)
        let shown = cards.firstIndex { $0.place == .shown }
        var number: Int?
        if !isResting {
            if earlier == nil { lastNumber += 1 }
            let card = NotificationPolicy.Card(number: earlier ?? lastNumber, kinds: kinds)
            cards.append(card)
            number = card.number
            isResting = true
        } else if let shown {
            cards[shown].kinds.formUnion(kinds)
            number = cards[shown].number
        } else {
            held.formUnion(kinds)
        }
        let gone = emptied.filter { $0 != number }
        return (gone + (number.map { [$0] } ?? [])).map { .post($0) }
    }

    /// Takes troubles out of the notices that tell of them.
    ///
    /// - Returns: The notices that tell of nothing any more.
    @discardableResult
    fileprivate mutating func remove(_ kinds: Set<Trouble.Kind>) -> [Int] {
        for index in cards.indices { cards[index].kinds.subtract(kinds) }
        let emptied = cards.filter(\.kinds.isEmpty).map(\.number)
        cards.removeAll(where: \.kinds.isEmpty)
        return emptied
    }
}
