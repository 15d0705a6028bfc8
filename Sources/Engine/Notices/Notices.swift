internal import Logging
internal import ProviderKit

/// Tells the user of troubles that no reply tells of, and does what the user then chooses.
///
/// The ledger decides; this keeps its times, talks to the board, and acts.
package final class Notices {
    /// How long a subject has no second new notice.
    static let rest = Duration.seconds(30)
    /// How long a notice stays as it is before it is replaced: a burst is one change.
    static let pace = Duration.seconds(1)

    private unowned let engine: Engine
    private let clock: any Clock<Duration>
    private let board: (any NotificationPresenter)?
    private var ledger = NotificationPolicy()
    private var rests: [NoticeSubject: Task<Void, Never>] = [:]
    private var posts: [Int: Post] = [:]

    /// The posting of one notice.
    private final class Post {
        /// Whether it is another than was posted.
        var isDue = true
        var pause: Task<Void, Never>?
    }

    init(_ engine: Engine, _ board: (any NotificationPresenter)?) {
        self.engine = engine
        clock = engine.ports.clock
        self.board = board
        board?.delegate = self
    }

    // MARK: What happens

    func raise(_ trouble: Trouble, about subject: NoticeSubject) {
        guard board != nil else { return }
        perform(ledger.raise(trouble, about: subject))
    }

    func heal(_ kind: Trouble.Kind, about subject: NoticeSubject) {
        perform(ledger.heal(kind, about: subject))
    }

    func healAll(about subject: NoticeSubject) { perform(ledger.healAll(about: subject)) }

    func settle(_ photo: PhotoID, about subject: NoticeSubject) {
        perform(ledger.settle(photo, about: subject))
    }

    /// Takes all notices away: nobody would hear what is chosen in them. For the end of a program.
    func stop() {
        for task in rests.values { task.cancel() }
        for number in ledger.numbers { board?.withdraw(number) }
        ledger = NotificationPolicy()
    }

    // MARK: Doing what the ledger says

    private func perform(_ steps: [NotificationPolicy.Step]) {
        for step in steps {
            switch step {
            case .post(let number): post(number)
            case .rest(let subject): rest(subject)
            }
        }
    }

    private func rest(_ subject: NoticeSubject) {
        rests[subject]?.cancel()
        rests[subject] = Task { [weak self, clock] in
            do { try await clock.sleep(for: Self.rest) } catch { return }
            guard let self else { return }
            rests[subject] = nil
            perform(ledger.restEnded(subject))
        }
    }

    private func post(_ number: Int) {
        // What goes away goes at once, or as soon as it is there.
        if ledger.notice(number) == nil { board?.withdraw(number) }
        if let post = posts[number] {
            post.isDue = true
            if ledger.notice(number) == nil { post.pause?.cancel() }
            return
        }
        guard ledger.notice(number) != nil else { return }
        let post = Post()
        posts[number] = post
        Task { [weak self] in
            await self?.show(number, post)
            self?.posts[number] = nil
        }
    }

    private func show(_ number: Int, _ post: Post) async {
        while post.isDue {
            post.isDue = false
            guard let notice = ledger.notice(number) else {
                board?.withdraw(number)
                return
            }
            guard await board?.show(notice, as: number) == true else {
                if !post.isDue { ledger.notShown(number) }
                continue
            }
            let pause = Task { [clock] in _ = try? await clock.sleep(for: Self.pace) }
            post.pause = pause
            if ledger.notice(number) != nil { await pause.value }
            pause.cancel()
            post.pause = nil
        }
    }
}

// MARK: - What the user does

extension Notices: NoticeBoardDelegate {
    package func noticeInvoked(_ action: NoticeAction, _ number: Int, activationToken: String) {
        guard let (subject, troubles, steps) = ledger.act(action, on: number) else { return }
        perform(steps)
        switch action {
        case .login:
            guard !troubles.isEmpty else { return }
            Task { await engine.logInAgain(subject, activationToken: activationToken) }
        case .retry:
            for trouble in troubles { retry(trouble, about: subject) }
        }
    }

    private func retry(_ trouble: Trouble, about subject: NoticeSubject) {
        switch (trouble.kind, subject) {
        case (.likes, .account(let id)):
            guard let account = engine.account(id) else { return }
            Task {
                // Those that fail again are told of again.
                for like in trouble.likes { try? await account.sendAgain(like) }
            }
        case (.secretStore, _): Task { await engine.unlockAgain() }
        case (.pluginFailed, .provider(let id)): engine.restartSessions(of: id)
        default: engine.tryAgain()
        }
    }

    package func noticeClosed(_ number: Int, _ closing: NoticeClosing) {
        ledger.closed(number, closing)
    }

    package func noticesLost(_ numbers: [Int]) {
        for number in numbers { ledger.lost(number) }
    }

    package func boardAppeared() { perform(ledger.boardAppeared()) }
}
