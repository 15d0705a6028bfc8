package import EngineModel
package import ProviderKit
internal import Translation

/// The content of a desktop notification.
nonisolated package struct NotificationContent: Hashable, Sendable {
    /// The summary: a few words, plain text.
    package let title: String
    /// One or two sentences for each issue, one line per issue, plain text.
    package let text: String
    /// The actions for the issues, without duplicates.
    package let actions: [NotificationAction]
    /// The remedies of the issues, without those that the text names already. The presenter phrases them.
    package let remedies: [IssueRemedy]
    /// The category of the notification.
    ///
    /// Source: Desktop Notifications Specification, "Categories".
    package let category: String
}

/// The action of the user that solves a reported issue.
nonisolated package struct IssueRemedy: Hashable, Sendable {
    /// The object of the action.
    package enum Target: Hashable, Sendable {
        case account(AccountID, provider: String)
        /// A user without an account at a provider. The server is empty for a service that is not federated.
        case provider(String, server: String)
        /// A like that was not sent. The wanted state is nil for the opposite of the present one.
        case like(PhotoID, isWanted: Bool?, AccountID)
    }

    package let remedy: Remedy
    package let target: Target
    /// True if the action of the notification failed, so that the user needs a terminal.
    package let needsTerminal: Bool

    package init(_ remedy: Remedy, _ target: Target, needsTerminal: Bool = false) {
        self.remedy = remedy
        self.target = target
        self.needsTerminal = needsTerminal
    }
}

/// An action that the user can start from a notification. The raw value is the key on the bus.
nonisolated package enum NotificationAction: String, CaseIterable, Sendable {
    case retry
    case login

    /// The text of the button.
    package var label: String {
        switch self {
        // Translators: the verb, on a button
        case .retry: tr("Try again")
        // Translators: the verb, on a button
        case .login: tr("Log in again")
        }
    }
}

/// An event of the notification service, with the numbers of notifications.
nonisolated package enum NotificationEvent: Sendable {
    /// The user chose an action. The token permits an opened window to take the focus; it is empty if there is none.
    case invoked(NotificationAction, Int, activationToken: String)
    /// A notification timed out. It may still be in the list of past notifications, where its actions work.
    case expired(Int)
    /// The user closed a notification.
    case dismissed(Int)
    /// Notifications disappeared because the notification service ended.
    case lost([Int])
    /// A notification service started.
    case serviceAppeared
}

/// The service that shows notifications: the notification service of the desktop.
///
/// The service may be missing, start, end, hang, and lack any optional feature.
package protocol NotificationPresenter: AnyObject {
    /// The receiver of events. It is set once, by the object that shows notifications.
    var onEvent: (NotificationEvent) -> Void { get set }

    /// Shows a notification. It replaces the notification with the same number.
    ///
    /// - Returns: True if it is shown. May take as long as a D-Bus call.
    func show(_ content: NotificationContent, as number: Int) async -> Bool

    /// Withdraws a notification, if it is shown. Does not wait for the service.
    func withdraw(_ number: Int)
}
