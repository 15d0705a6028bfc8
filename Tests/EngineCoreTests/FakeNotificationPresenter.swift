import EngineCore
import TestSupport

/// A notification service that records the notifications for tests.
@MainActor
final class FakeNotificationPresenter: NotificationPresenter {
    var onEvent: (NotificationEvent) -> Void = { _ in }
    /// The notifications that are shown, by number.
    let notifications = Observed<[Int: NotificationContent]>([:])
    /// The number of calls that show or replace a notification.
    let changes = Observed(0)
    /// True if the service is running.
    let isAvailable = Observed(true)

    func show(_ content: NotificationContent, as number: Int) async -> Bool {
        changes.update { $0 += 1 }
        guard isAvailable.value else { return false }
        notifications.update { $0[number] = content }
        return true
    }

    func withdraw(_ number: Int) { notifications.update { $0[number] = nil } }

    /// Waits until one notification is shown whose text starts with `text`.
    ///
    /// - Returns: Its number.
    @discardableResult
    func waitFor(_ text: String) async throws -> Int {
        try await notifications.wait { shown in
            guard shown.count == 1, let (number, content) = shown.first else { return nil }
            return content.text.hasPrefix(text) ? number : nil
        }
    }

    func waitUntilEmpty() async throws { try await notifications.wait { $0.isEmpty ? true : nil } }

    /// Invokes an action, as the user does with a button.
    func press(_ action: NotificationAction, _ number: Int, token: String = "") {
        onEvent(.invoked(action, number, activationToken: token))
    }
}
