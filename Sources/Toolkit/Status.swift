internal import CAdwaita
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

/// An activity indicator. The owner ends it, also if there is no result in time.
package final class Spinner: Widget {
    package init(size: Int = 32) {
        super.init(gtk_spinner_new())
        setMinimumSize(width: size, height: size)
        setAccessibleName(tr("In progress"))
    }

    package func setSpinning(_ isOn: Bool) { gtk_spinner_set_spinning(opaque, isOn ? 1 : 0) }
}

package final class ProgressBar: Widget {
    package init() { super.init(gtk_progress_bar_new()) }

    /// Shows a part from 0 to 1.
    package func set(_ fraction: Double) { gtk_progress_bar_set_fraction(opaque, fraction) }
    /// Moves the bar of a task of unknown length.
    package func pulse() { gtk_progress_bar_pulse(opaque) }
}

/// Short messages at the bottom of its child.
package final class ToastArea: Widget {
    private var plainToast: Object?
    private var buttonToast: Object?

    package init(_ child: Widget) {
        super.init(adw_toast_overlay_new())
        adw_toast_overlay_set_child(opaque, child.widget)
    }

    /// Shows a message for some seconds; with a button, until the user presses it or closes the message.
    ///
    /// It replaces the previous message. A message with a button is shown again after one without.
    ///
    /// - Parameters:
    ///   - message: Plain text.
    ///   - button: The title of a button.
    ///   - action: Called when the user presses the button.
    package func show(_ message: String, button: String? = nil, action: @escaping () -> Void = {}) {
        let toast = Object(owning: UnsafeMutableRawPointer(adw_toast_new(markup(message))))
        if let button {
            adw_toast_set_button_label(toast.opaque, button)
            // The user must be able to reach the button.
            adw_toast_set_timeout(toast.opaque, 0)
            toast.connect("button-clicked") { _ in action() }
            replace(&buttonToast, by: toast)
        } else {
            adw_toast_set_priority(toast.opaque, ADW_TOAST_PRIORITY_HIGH)
            replace(&plainToast, by: toast)
        }
        // The area takes ownership of the toast.
        adw_toast_overlay_add_toast(opaque, OpaquePointer(g_object_ref(toast.raw)))
    }

    private func replace(_ old: inout Object?, by new: Object) {
        if let old { adw_toast_dismiss(old.opaque) }
        old = new
    }
}
