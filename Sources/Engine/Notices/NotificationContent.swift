/// What the user is told of beside what clients show: a desktop notification.
nonisolated package struct NotificationContent: Hashable, Sendable {
    /// The summary: a few words, plain text.
    package let title: String
    /// A sentence or two, a line for each trouble, plain text.
    package let text: String
    /// What can be done about it, each once.
    package let actions: [NoticeAction]
    /// The same in words, with commands, for where there are no buttons; empty if there is nothing.
    package let advice: String
    /// What kind of thing it is about.
    ///
    /// Source: Desktop Notifications Specification, "Categories".
    package let category: String
}

/// What the user can do about a trouble with one click. The raw value is the key on the bus.
nonisolated package enum NoticeAction: String, CaseIterable, Sendable {
    case retry
    case login

    /// What stands on the button.
    package var label: String {
        switch self {
        case .retry: "Try again"
        case .login: "Log in again"
        }
    }
}

/// Why a notice is not shown any more.
nonisolated package enum NoticeClosing: Sendable {
    /// Nobody did anything. It may still be in a list of past ones, and be acted upon there.
    case expired
    /// The user has put it away.
    case dismissed
}

/// Where notices are shown: the notification service of the desktop, which may come, go, hang, and lack
/// whatever is optional.
package protocol NotificationPresenter: AnyObject {
    var delegate: (any NoticeBoardDelegate)? { get set }

    /// Shows a notice, in the place of the one that had its number.
    ///
    /// - Returns: Whether it was shown. May take as long as a call on the bus.
    func show(_ notice: NotificationContent, as number: Int) async -> Bool

    /// Takes a notice away, if it is there. Does not wait.
    func withdraw(_ number: Int)
}

/// What the user does with notices, and what becomes of their board.
package protocol NoticeBoardDelegate: AnyObject {
    /// - Parameters:
    ///   - action: What was chosen.
    ///   - number: Of the notice.
    ///   - activationToken: Lets what is opened then come to the front; empty for none.
    func noticeInvoked(_ action: NoticeAction, _ number: Int, activationToken: String)
    func noticeClosed(_ number: Int, _ closing: NoticeClosing)
    /// These went with the service that showed them.
    func noticesLost(_ numbers: [Int])
    /// A service that can show notices has come.
    func boardAppeared()
}
