/// The content of a desktop notification.
nonisolated package struct NotificationContent: Hashable, Sendable {
    /// The summary: a few words, plain text.
    package let title: String
    /// One or two sentences for each issue, one line per issue, plain text.
    package let text: String
    /// The actions for the issues, without duplicates.
    package let actions: [NotificationAction]
    /// The commands that replace the actions at notification services without buttons; empty if there are none.
    package let advice: String
    /// The category of the notification.
    ///
    /// Source: Desktop Notifications Specification, "Categories".
    package let category: String
}

/// An action that the user can start from a notification. The raw value is the key on the bus.
nonisolated package enum NotificationAction: String, CaseIterable, Sendable {
    case retry
    case login

    /// The text of the button.
    package var label: String {
        switch self {
        case .retry: "Try again"
        case .login: "Log in again"
        }
    }
}

/// The reason why a notification was closed.
nonisolated package enum NotificationCloseReason: Sendable {
    /// The notification timed out. It may still be in the list of past notifications, where its actions work.
    case expired
    /// The user closed it.
    case dismissed
}

/// The service that shows notifications: the notification service of the desktop.
///
/// The service may be missing, start, end, hang, and lack any optional feature.
package protocol NotificationPresenter: AnyObject {
    /// The receiver of events. It is set once, by the object that shows notifications, and is referenced weakly.
    var delegate: (any NotificationPresenterDelegate)? { get set }

    /// Shows a notification. It replaces the notification with the same number.
    ///
    /// - Returns: True if it is shown. May take as long as a D-Bus call.
    func show(_ content: NotificationContent, as number: Int) async -> Bool

    /// Withdraws a notification, if it is shown. Does not wait for the service.
    func withdraw(_ number: Int)
}

/// A receiver of the user's actions and of changes of the notification service.
package protocol NotificationPresenterDelegate: AnyObject {
    /// The user chose an action of a notification.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - number: The number of the notification.
    ///   - activationToken: A token that permits an opened window to take the focus; empty if there is none.
    func notificationInvoked(
        _ action: NotificationAction, _ number: Int, activationToken: String)

    /// A notification was closed.
    func notificationClosed(_ number: Int, _ reason: NotificationCloseReason)

    /// Notifications disappeared because the notification service ended.
    func notificationsLost(_ numbers: [Int])

    /// A notification service started.
    func presenterAppeared()
}
