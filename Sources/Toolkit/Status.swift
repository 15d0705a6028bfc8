internal import CAdwaita
internal import System
internal import Translation

/// A page that explains why there is no content.
package final class StatusPage: Widget {
    package init() { super.init(adw_status_page_new()) }

    package func set(icon: String?, title: String, description: String, child: Widget?) {
        adw_status_page_set_icon_name(opaque, icon)
        adw_status_page_set_title(opaque, title)
        adw_status_page_set_description(opaque, markup(description))
        adw_status_page_set_child(opaque, child?.widget)
    }
}

/// An activity indicator, which turns while it is on the screen. The owner hides it, also if there is no result in time.
package final class Spinner: Widget {
    package init(size: Int = 32) {
        super.init(gtk_spinner_new())
        setMinimumSize(width: size, height: size)
        setAccessibleName(tr("In progress"))
        connect("map") { gtk_spinner_start($0.sender) }
        connect("unmap") { gtk_spinner_stop($0.sender) }
    }
}

package final class ProgressBar: Widget {
    package init() { super.init(gtk_progress_bar_new()) }

    /// Shows a part from 0 to 1.
    package func set(_ fraction: Double) { gtk_progress_bar_set_fraction(opaque, fraction) }
    /// Moves the bar of a task of unknown length.
    package func pulse() { gtk_progress_bar_pulse(opaque) }
}

/// Short messages at the bottom of its child, one at a time.
package final class ToastArea: Widget {
    private typealias Message = (text: String, button: String?, action: () -> Void)

    private var shown: (toast: Object, message: Message)?
    /// The messages that follow: at most a new one, and one with a button after it.
    private var waiting: [Message] = []
    /// True if the first one replaces the message on the screen.
    private var isReplaced = false
    private lazy var timer = MainLoopTimer { [weak self] in self?.advance() }

    /// The time of an animation. libadwaita 1.2 ends the process if a message comes or goes during that of another one.
    private static let animationTime = Duration.milliseconds(500)

    package init() { super.init(adw_toast_overlay_new()) }

    package func setChild(_ child: Widget) { adw_toast_overlay_set_child(opaque, child.widget) }

    /// Shows a message for five seconds; with a button, for ten.
    ///
    /// It replaces the previous message. A message with a button is shown again after one without.
    ///
    /// - Parameters:
    ///   - message: Plain text.
    ///   - button: The title of a button.
    ///   - action: Called when the user presses the button.
    package func show(_ message: String, button: String? = nil, action: @escaping () -> Void = {}) {
        let message: Message = (message, button, action)
        let others = button == nil ? waiting + [shown?.message].compactMap(\.self) : []
        waiting = [message] + others.filter { $0.button != nil }.prefix(1)
        isReplaced = true
        if !timer.isRunning { advance() }
    }

    private func advance() {
        guard !waiting.isEmpty else { return }
        if let shown {
            if isReplaced { adw_toast_dismiss(shown.toast.opaque) }
            return
        }
        isReplaced = false
        timer.start(after: Self.animationTime)
        let message = waiting.removeFirst()
        let toast = Object(owning: UnsafeMutableRawPointer(adw_toast_new(markup(message.text))))
        shown = (toast, message)
        if let button = message.button {
            adw_toast_set_button_label(toast.opaque, button)
            adw_toast_set_timeout(toast.opaque, 10)
            toast.connect("button-clicked") { [weak self] _ in
                self?.waiting.removeAll { $0.button != nil }
                // The message is dismissed after this signal.
                Task { message.action() }
            }
        }
        toast.connect("dismissed") { [weak self] _ in
            self?.shown = nil
            self?.timer.start(after: Self.animationTime)
        }
        // The area takes ownership of the toast.
        adw_toast_overlay_add_toast(opaque, OpaquePointer(g_object_ref(toast.raw)))
    }
}
