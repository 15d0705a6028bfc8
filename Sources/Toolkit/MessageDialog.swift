internal import CAdwaita

/// A question before a destructive action.
@MainActor
package enum MessageDialog {
    /// Shows the dialog.
    ///
    /// - Parameters:
    ///   - parent: The window.
    ///   - heading: The question.
    ///   - body: The consequences.
    ///   - cancel: The title of the button that does nothing, which is also that of the keys Enter and Escape.
    ///   - confirm: The title of the button for the action.
    ///   - handler: Receives true for the action.
    package static func present(
        _ parent: Window, heading: String, body: String, cancel: String, confirm: String,
        _ handler: @escaping (_ isConfirmed: Bool) -> Void
    ) {
        let dialog = Widget(shim_message_dialog(parent.window, heading, body))
        for (id, title) in [("cancel", cancel), ("confirm", confirm)] {
            adw_message_dialog_add_response(dialog.cast(), id, title)
        }
        adw_message_dialog_set_response_appearance(
            dialog.cast(), "confirm", ADW_RESPONSE_DESTRUCTIVE)
        adw_message_dialog_set_default_response(dialog.cast(), "cancel")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        dialog.connect("response") { call in handler(call.string(1) == "confirm") }
        gtk_window_present(dialog.cast())
    }
}
