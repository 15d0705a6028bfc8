internal import CAdwaita

/// A question with buttons.
@MainActor
package final class MessageDialog: Widget {
    package enum Style: Sendable { case plain, suggested, destructive }

    package init(_ parent: Window, heading: String, body: String) {
        super.init(shim_message_dialog(parent.window, heading, body))
    }

    package func add(_ id: String, _ title: String, _ style: Style = .plain) {
        adw_message_dialog_add_response(cast(), id, title)
        switch style {
        case .plain: break
        case .suggested:
            adw_message_dialog_set_response_appearance(cast(), id, ADW_RESPONSE_SUGGESTED)
        case .destructive:
            adw_message_dialog_set_response_appearance(cast(), id, ADW_RESPONSE_DESTRUCTIVE)
        }
    }

    /// Shows the dialog.
    ///
    /// - Parameters:
    ///   - standard: The button of the key Enter.
    ///   - cancel: The ID that stands for closing the dialog.
    ///   - handler: Receives the ID of the button.
    package func present(standard: String, cancel: String, _ handler: @escaping (String) -> Void) {
        adw_message_dialog_set_default_response(cast(), standard)
        adw_message_dialog_set_close_response(cast(), cancel)
        connect("response") { call in handler(call.string(1)) }
        gtk_window_present(cast())
    }
}
