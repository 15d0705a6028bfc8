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

    /// A notification that was posted.
    private struct Posted {
        enum State {
            /// It is shown, or is being sent to the notification service.
            case shown
            /// The notification service was missing or has ended.
            case unseen
            case expired
            case dismissed
        }

        let number: Int
        let subject: IssueSubject
        var kinds: Set<ReportedIssue.Kind>
        var state = State.shown
    }

    private var issues: [IssueSubject: [ReportedIssue.Kind: ReportedIssue]] = [:]
    private var notifications: [Posted] = []
    /// The subjects of which a new notification was shown in the last 30 seconds.
    private var paused: Set<IssueSubject> = []
    /// The issues that were reported during a pause while no notification was shown that could contain them.
    private var waiting: [IssueSubject: Set<ReportedIssue.Kind>] = [:]
    private var lastNumber = 0

    /// Returns the current content of a notification; nil if it is not to be shown.
    func content(_ number: Int) -> NotificationContent? {
        guard let posted = find(number), [.shown, .unseen].contains(posted.state) else {
            return nil
        }
        return NotificationContent(reported(in: posted))
    }

    /// The numbers of all notifications.
    var numbers: [Int] { notifications.map(\.number) }

    // MARK: Issues

    /// Adds an issue.
    mutating func raise(_ issue: ReportedIssue, about subject: IssueSubject) -> [Step] {
        let kind = issue.kind
        let previous = issues[subject]?[kind]
        let posted = find(kind, about: subject)
        // A dismissed issue is not reported again.
        let merged = posted?.state == .dismissed ? issue : issue.merged(with: previous)
        issues[subject, default: [:]][kind] = merged
        guard let posted else { return show([kind], about: subject) }
        switch posted.state {
        case .shown: return merged == previous ? [] : [.post(posted.number)]
        case .unseen: return show(posted.kinds, about: subject)
        case .expired, .dismissed: return kind.recurs ? show([kind], about: subject) : []
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
        guard let kinds = issues[subject]?.keys else { return [] }
        return kinds.flatMap { resolve($0, about: subject) }
    }

    /// Replaces an existing issue by the result of `body`; nil removes it.
    private mutating func amend(
        _ kind: ReportedIssue.Kind, about subject: IssueSubject,
        _ body: (ReportedIssue) -> ReportedIssue?
    ) -> [Step] {
        guard let issue = issues[subject]?[kind] else { return [] }
        let amended = body(issue)
        guard amended != issue else { return [] }
        let posted = find(kind, about: subject)
        issues[subject]?[kind] = amended
        if amended == nil {
            if issues[subject]?.isEmpty == true { issues[subject] = nil }
            waiting[subject]?.remove(kind)
            remove([kind], about: subject)
        }
        guard let posted else { return [] }
        return posted.state == .shown || posted.kinds == [kind] && amended == nil
            ? [.post(posted.number)] : []
    }

    /// Shows the issues that were reported during the pause of a subject.
    mutating func pauseEnded(_ subject: IssueSubject) -> [Step] {
        paused.remove(subject)
        guard let kinds = waiting.removeValue(forKey: subject), !kinds.isEmpty else { return [] }
        return show(kinds, about: subject)
    }

    // MARK: Events of the user and the notification service

    mutating func closed(_ number: Int, isExpired: Bool) {
        setState(number, isExpired ? .expired : .dismissed)
    }

    /// Records that a notification could not be shown. No pause follows, because the notification was not visible.
    mutating func notShown(_ number: Int) {
        lost(number)
        if let posted = find(number) { paused.remove(posted.subject) }
    }

    /// Records that a notification disappeared because the notification service ended.
    mutating func lost(_ number: Int) {
        if find(number)?.state == .shown { setState(number, .unseen) }
    }

    /// Shows the notifications that could not be shown before, because a notification service started.
    mutating func presenterAppeared() -> [Step] {
        var unseen: [IssueSubject: Set<ReportedIssue.Kind>] = [:]
        for posted in notifications where posted.state == .unseen {
            unseen[posted.subject, default: []].formUnion(posted.kinds)
        }
        return unseen.flatMap { subject, kinds in show(kinds, about: subject) }
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
        guard let posted = find(number) else { return nil }
        let issues = reported(in: posted).filter { $0.action == action }
        setState(number, .dismissed)
        var steps = [Step.post(number)]
        if issues.contains(where: { $0.kind == .likes }) {
            steps += resolve(.likes, about: posted.subject)
        }
        return (posted.subject, issues, steps)
    }

    // MARK: Notifications

    private func find(_ number: Int) -> Posted? { notifications.first { $0.number == number } }

    /// Returns the notification that contains an issue; nil if there is none.
    private func find(_ kind: ReportedIssue.Kind, about subject: IssueSubject) -> Posted? {
        notifications.first { $0.subject == subject && $0.kinds.contains(kind) }
    }

    /// Returns the issues in a notification, the most important first.
    private func reported(in posted: Posted) -> [ReportedIssue] {
        posted.kinds.sorted().compactMap { issues[posted.subject]?[$0] }
    }

    private mutating func setState(_ number: Int, _ state: Posted.State) {
        guard let index = notifications.firstIndex(where: { $0.number == number }) else { return }
        notifications[index].state = state
    }

    /// Shows issues that are not shown: in a new notification, or during a pause in the one that is shown.
    private mutating func show(
        _ kinds: Set<ReportedIssue.Kind>, about subject: IssueSubject
    ) -> [Step] {
        // An earlier notification with these kinds may still be in the list of past ones, and is replaced there.
        let earlier = notifications.first { $0.subject == subject && $0.kinds == kinds }?.number
        let emptied = remove(kinds, about: subject)
        let isNew = paused.insert(subject).inserted
        var number: Int?
        if isNew {
            if earlier == nil { lastNumber += 1 }
            let posted = Posted(number: earlier ?? lastNumber, subject: subject, kinds: kinds)
            notifications.append(posted)
            number = posted.number
        } else if let shown = notifications.firstIndex(where: {
            $0.subject == subject && $0.state == .shown
        }) {
            notifications[shown].kinds.formUnion(kinds)
            number = notifications[shown].number
        } else {
            waiting[subject, default: []].formUnion(kinds)
        }
        let withdrawn = emptied.filter { $0 != number }
        let steps = (withdrawn + (number.map { [$0] } ?? [])).map { Step.post($0) }
        return isNew ? steps + [.startPause(subject)] : steps
    }

    /// Removes kinds from the notifications that contain them.
    ///
    /// - Returns: The numbers of the notifications that are empty then.
    @discardableResult
    private mutating func remove(
        _ kinds: Set<ReportedIssue.Kind>, about subject: IssueSubject
    ) -> [Int] {
        for index in notifications.indices where notifications[index].subject == subject {
            notifications[index].kinds.subtract(kinds)
        }
        let emptied = notifications.filter(\.kinds.isEmpty).map(\.number)
        notifications.removeAll(where: \.kinds.isEmpty)
        return emptied
    }
}
