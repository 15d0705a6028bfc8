internal import EngineModel
internal import ProviderKit
internal import System

/// The notifications about issues that no reply to a client reports, and the actions that the user starts from them.
///
/// ``NotificationPolicy`` decides; this type has the timers, calls the notification service and performs the actions.
package final class Notifications {
    /// The time after a new notification in which its subject gets no other new notification.
    static let newNotificationPause = Duration.seconds(30)
    /// The shortest time between two updates of a notification: a burst of issues is one update.
    static let updatePause = Duration.seconds(1)

    private unowned let engine: Engine
    private let clock: any Clock<Duration>
    private let presenter: (any NotificationPresenter)?
    private var policy = NotificationPolicy()
    private var pauses: [IssueSubject: Task<Void, Never>] = [:]
    /// The updates in progress, by the number of the notification. `isDue` is true if the content changed since it was
    /// sent last.
    private var updates: [Int: (isDue: Bool, pause: Task<Void, Never>?)] = [:]

    init(_ engine: Engine, _ presenter: (any NotificationPresenter)?) {
        self.engine = engine
        clock = engine.ports.clock
        self.presenter = presenter
        presenter?.onEvent = { [weak self] in self?.handle($0) }
    }

    // MARK: Issues

    func raise(_ issue: ReportedIssue, about subject: IssueSubject) {
        guard presenter != nil else { return }
        perform(policy.raise(issue, about: subject))
    }

    func resolve(_ kind: ReportedIssue.Kind, about subject: IssueSubject) {
        perform(policy.resolve(kind, about: subject))
    }

    func resolveAll(about subject: IssueSubject) { perform(policy.resolveAll(about: subject)) }

    func removeFailedLike(_ photo: PhotoID, about subject: IssueSubject) {
        perform(policy.removeFailedLike(photo, about: subject))
    }

    /// Withdraws all notifications, because the daemon ends and could not perform their actions.
    func stop() {
        for task in pauses.values { task.cancel() }
        for number in policy.numbers { presenter?.withdraw(number) }
        policy = NotificationPolicy()
    }

    // MARK: Steps of the policy

    private func perform(_ steps: [NotificationPolicy.Step]) {
        for step in steps {
            switch step {
            case .post(let number): post(number)
            case .startPause(let subject): startPause(of: subject)
            }
        }
    }

    private func startPause(of subject: IssueSubject) {
        pauses[subject]?.cancel()
        pauses[subject] = clock.after(Self.newNotificationPause) { [weak self] in
            guard let self else { return }
            pauses[subject] = nil
            perform(policy.pauseEnded(subject))
        }
    }

    private func post(_ number: Int) {
        // A withdrawal is immediate. If the notification is being shown, the update in progress withdraws it again.
        if policy.content(number) == nil { presenter?.withdraw(number) }
        if let update = updates[number] {
            updates[number]?.isDue = true
            if policy.content(number) == nil { update.pause?.cancel() }
            return
        }
        guard policy.content(number) != nil else { return }
        updates[number] = (isDue: true, pause: nil)
        Task { [weak self] in
            await self?.update(number)
            self?.updates[number] = nil
        }
    }

    private func update(_ number: Int) async {
        while updates[number]?.isDue == true {
            updates[number]?.isDue = false
            guard let content = policy.content(number) else {
                presenter?.withdraw(number)
                return
            }
            guard await presenter?.show(content, as: number) == true else {
                if updates[number]?.isDue == false { policy.notShown(number) }
                continue
            }
            let pause = clock.after(Self.updatePause) {}
            updates[number]?.pause = pause
            if policy.content(number) != nil { await pause.value }
            pause.cancel()
            updates[number]?.pause = nil
        }
    }
}

// MARK: - Events of the engine

extension Notifications: EngineObserver {
    package func handle(_ event: EngineEvent) {
        guard case .account(let account, let event) = event else { return }
        switch event {
        case .changed(.state): engine.reportState(of: account)
        case .likeConfirmed(let photo, _, _): removeFailedLike(photo, about: .account(account.id))
        case .likeFailed(let photo, let isWanted, let error):
            account.reportFailedLike(photo, isWanted, error)
        default: break
        }
    }
}

// MARK: - Events of the notification service

extension Notifications {
    private func handle(_ event: NotificationEvent) {
        switch event {
        case .invoked(let action, let number, let token): perform(action, number, token)
        case .expired(let number): policy.closed(number, isExpired: true)
        case .dismissed(let number): policy.closed(number, isExpired: false)
        case .lost(let numbers): for number in numbers { policy.lost(number) }
        case .serviceAppeared: perform(policy.presenterAppeared())
        }
    }

    private func perform(_ action: NotificationAction, _ number: Int, _ activationToken: String) {
        guard let (subject, issues, steps) = policy.act(action, on: number) else { return }
        perform(steps)
        switch action {
        case .login:
            guard !issues.isEmpty else { return }
            Task { await engine.logInAgain(subject, activationToken: activationToken) }
        case .retry:
            for issue in issues { retry(issue, about: subject) }
        }
    }

    private func retry(_ issue: ReportedIssue, about subject: IssueSubject) {
        switch (issue.kind, subject) {
        case (.likes, .account(let id)):
            guard let account = engine.accounts[id] else { return }
            Task {
                // A like that fails again is reported again.
                for like in issue.likes {
                    _ = try? await account.changeLike(of: like.photo.text, to: like.isWanted)
                }
            }
        case (.secretStore, _): Task { await engine.unlockAgain() }
        case (.pluginFailed, .provider(let id, _)): engine.restartSessions(of: id)
        default: engine.retryNow()
        }
    }
}
