internal import ProviderKit

/// The rules that decide which notifications the reported issues have.
///
/// - An issue of one subject and kind is in one notification. The notification is replaced if its issues change, and
///   withdrawn if they are resolved.
/// - A subject gets at most one new notification in 30 seconds. Further issues are added to the notification that is
///   shown, or wait.
///
/// This type only decides; its owner, ``Notifications``, has the timers and calls the notification service.
nonisolated struct NotificationPolicy {
    /// An action of the owner.
    enum Step: Hashable {
        /// Show the notification of this number with its current ``content(_:)``; withdraw it if that is nil.
        case post(Int)
        /// Call ``pauseEnded(_:)`` after 30 seconds.
        case startPause(IssueSubject)
    }

    /// The issues of one subject, and its notifications.
    fileprivate struct Subject {
        var issues: [ReportedIssue.Kind: ReportedIssue] = [:]
        var notifications: [Posted] = []
        /// True if a new notification was shown in the last 30 seconds.
        var isPaused = false
        /// The issues that were reported during the pause while no notification was shown that could contain them.
        var waiting: Set<ReportedIssue.Kind> = []
    }

    /// A notification that was posted.
    fileprivate struct Posted {
        enum State {
            /// It is shown, or is being sent to the notification service.
            case shown
            /// The notification service was missing or has ended.
            case unseen
            case expired
            case dismissed
        }

        let number: Int
        var kinds: Set<ReportedIssue.Kind>
        var state = State.shown
    }

    private var subjects: [IssueSubject: Subject] = [:]
    private var lastNumber = 0

    /// Returns the current content of a notification; nil if it is not to be shown.
    func content(_ number: Int) -> NotificationContent? {
        guard let (_, subject, index) = find(number) else { return nil }
        let posted = subject.notifications[index]
        guard [.shown, .unseen].contains(posted.state) else { return nil }
        return NotificationContent(posted.kinds.sorted().compactMap { subject.issues[$0] })
    }

    /// The numbers of all notifications.
    var numbers: [Int] { subjects.values.flatMap { $0.notifications.map(\.number) } }

    // MARK: Issues

    /// Adds an issue.
    mutating func raise(_ issue: ReportedIssue, about subject: IssueSubject) -> [Step] {
        change(subject) { subject, lastNumber in
            let kind = issue.kind
            let previous = subject.issues[kind]
            let posted = subject.notifications.first { $0.kinds.contains(kind) }
            // A dismissed issue is not reported again.
            subject.issues[kind] =
                posted?.state == .dismissed ? issue : issue.merged(with: previous)
            guard let posted else { return subject.show([kind], &lastNumber) }
            switch posted.state {
            case .shown: return subject.issues[kind] == previous ? [] : [.post(posted.number)]
            case .unseen: return subject.show(posted.kinds, &lastNumber)
            case .expired, .dismissed:
                return kind.recurs ? subject.show([kind], &lastNumber) : []
            }
        }
    }

    /// Removes an issue, because it no longer exists.
    mutating func resolve(_ kind: ReportedIssue.Kind, about subject: IssueSubject) -> [Step] {
        amend(kind, about: subject) { _ in nil }
    }

    /// Removes a failed like, because it was sent later or the user reverted it.
    mutating func removeFailedLike(_ photo: PhotoID, about subject: IssueSubject) -> [Step] {
        amend(.likes, about: subject) { issue in
            var issue = issue
            issue.likes.removeAll { $0.photo == photo }
            return issue.likes.isEmpty ? nil : issue
        }
    }

    /// Removes all issues of a subject.
    mutating func resolveAll(about subject: IssueSubject) -> [Step] {
        guard let kinds = subjects[subject]?.issues.keys else { return [] }
        return kinds.flatMap { resolve($0, about: subject) }
    }

    /// Replaces an existing issue by the result of `body`; nil removes it.
    private mutating func amend(
        _ kind: ReportedIssue.Kind, about subject: IssueSubject,
        _ body: (ReportedIssue) -> ReportedIssue?
    ) -> [Step] {
        guard let issue = subjects[subject]?.issues[kind] else { return [] }
        return change(subject) { subject, _ in
            let amended = body(issue)
            guard amended != issue else { return [] }
            subject.issues[kind] = amended
            if amended == nil { subject.waiting.remove(kind) }
            guard
                let posted = subject.notifications.first(where: { $0.kinds.contains(kind) })
            else { return [] }
            if amended == nil { subject.remove([kind]) }
            return posted.state == .shown || posted.kinds == [kind] && amended == nil
                ? [.post(posted.number)] : []
        }
    }

    /// Shows the issues that were reported during the pause of a subject.
    mutating func pauseEnded(_ subject: IssueSubject) -> [Step] {
        subjects[subject]?.isPaused = false
        return change(subject) { subject, lastNumber in
            let waiting = subject.waiting
            subject.waiting = []
            return waiting.isEmpty ? [] : subject.show(waiting, &lastNumber)
        }
    }

    // MARK: Events of the user and the notification service

    mutating func closed(_ number: Int, _ reason: NotificationCloseReason) {
        setState(number, reason == .expired ? .expired : .dismissed)
    }

    /// Records that a notification could not be shown. No pause follows, because the notification was not visible.
    mutating func notShown(_ number: Int) {
        lost(number)
        guard let id = find(number)?.id else { return }
        subjects[id]?.isPaused = false
    }

    /// Records that a notification disappeared because the notification service ended.
    mutating func lost(_ number: Int) {
        guard let (_, subject, index) = find(number) else { return }
        if subject.notifications[index].state == .shown { setState(number, .unseen) }
    }

    /// Shows the notifications that could not be shown before, because a notification service started.
    mutating func presenterAppeared() -> [Step] {
        var steps: [Step] = []
        for subject in subjects.keys {
            let unseen = subjects[subject]?.notifications.filter { $0.state == .unseen } ?? []
            guard !unseen.isEmpty else { continue }
            steps += change(subject) { subject, lastNumber in
                subject.show(unseen.reduce(into: []) { $0.formUnion($1.kinds) }, &lastNumber)
            }
        }
        return steps
    }

    /// Dismisses a notification, because the user chose one of its actions.
    ///
    /// Failed likes are removed: the retry reports those that fail again.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - number: The number of the notification.
    /// - Returns: The subject, and the issues that have this action; nil for an unknown notification.
    mutating func act(
        _ action: NotificationAction, on number: Int
    ) -> (subject: IssueSubject, issues: [ReportedIssue], steps: [Step])? {
        guard let (id, subject, index) = find(number) else { return nil }
        let issues = subject.notifications[index].kinds.sorted().compactMap { subject.issues[$0] }
            .filter { $0.action == action }
        setState(number, .dismissed)
        var steps = [Step.post(number)]
        if issues.contains(where: { $0.kind == .likes }) { steps += resolve(.likes, about: id) }
        return (id, issues, steps)
    }

    // MARK: Lookup

    /// Returns the subject of a notification, and the index of the notification.
    private func find(_ number: Int) -> (id: IssueSubject, subject: Subject, index: Int)? {
        for (id, subject) in subjects {
            if let index = subject.notifications.firstIndex(where: { $0.number == number }) {
                return (id, subject, index)
            }
        }
        return nil
    }

    private mutating func setState(_ number: Int, _ state: Posted.State) {
        guard let (id, _, index) = find(number) else { return }
        subjects[id]?.notifications[index].state = state
    }

    /// Changes a subject. Adds the step that starts its pause, and removes a subject without issues.
    private mutating func change(
        _ id: IssueSubject, _ body: (inout Subject, inout Int) -> [Step]
    ) -> [Step] {
        var subject = subjects[id] ?? Subject()
        let wasPaused = subject.isPaused
        var steps = body(&subject, &lastNumber)
        if subject.isPaused, !wasPaused { steps.append(.startPause(id)) }
        subjects[id] = subject.issues.isEmpty && !subject.isPaused ? nil : subject
        return steps
    }
}

nonisolated extension NotificationPolicy.Subject {
    /// Shows issues that are not shown: in a new notification, or during a pause in the one that is shown.
    fileprivate mutating func show(
        _ kinds: Set<ReportedIssue.Kind>, _ lastNumber: inout Int
    ) -> [NotificationPolicy.Step] {
        // An earlier notification with these kinds may still be in the list of past ones, and is replaced there.
        let earlier = notifications.first { $0.kinds == kinds }?.number
        let emptied = remove(kinds)
        let shown = notifications.firstIndex { $0.state == .shown }
        var number: Int?
        if !isPaused {
            if earlier == nil { lastNumber += 1 }
            let posted = NotificationPolicy.Posted(number: earlier ?? lastNumber, kinds: kinds)
            notifications.append(posted)
            number = posted.number
            isPaused = true
        } else if let shown {
            notifications[shown].kinds.formUnion(kinds)
            number = notifications[shown].number
        } else {
            waiting.formUnion(kinds)
        }
        let withdrawn = emptied.filter { $0 != number }
        return (withdrawn + (number.map { [$0] } ?? [])).map { .post($0) }
    }

    /// Removes kinds from the notifications that contain them.
    ///
    /// - Returns: The numbers of the notifications that are empty then.
    @discardableResult
    fileprivate mutating func remove(_ kinds: Set<ReportedIssue.Kind>) -> [Int] {
        for index in notifications.indices { notifications[index].kinds.subtract(kinds) }
        let emptied = notifications.filter(\.kinds.isEmpty).map(\.number)
        notifications.removeAll(where: \.kinds.isEmpty)
        return emptied
    }
}
