import Engine
import TestSupport

/// A board that shows notices to the test.
@MainActor
final class FakeNoticeBoard: NotificationPresenter {
    weak var delegate: (any NoticeBoardDelegate)?
    /// What is on it, by number.
    let notices = Observed<[Int: NotificationContent]>([:])
    /// How often something was shown or replaced.
    let changes = Observed(0)
    /// Whether somebody is there to show anything.
    let isThere = Observed(true)

    func show(_ notice: NotificationContent, as number: Int) async -> Bool {
        changes.update { $0 += 1 }
        guard isThere.value else { return false }
        notices.update { $0[number] = notice }
        return true
    }

    func withdraw(_ number: Int) { notices.update { $0[number] = nil } }

    /// Waits until this is the one that is shown; by the beginning of its text.
    @discardableResult
    func showing(_ text: String) async throws -> Int {
        try await notices.wait { notices in
            guard notices.count == 1, let (number, notice) = notices.first else { return nil }
            return notice.text.hasPrefix(text) ? number : nil
        }
    }

    func isEmpty() async throws { try await notices.wait { $0.isEmpty ? true : nil } }

    /// Does what the user does with a button.
    func press(_ action: NoticeAction, _ number: Int, token: String = "") {
        delegate?.noticeInvoked(action, number, activationToken: token)
    }
}
