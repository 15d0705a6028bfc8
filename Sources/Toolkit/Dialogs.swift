internal import CAdwaita
internal import Translation

extension Window {
    /// Asks a question before a destructive action.
    ///
    /// - Parameters:
    ///   - heading: The question.
    ///   - body: The consequences.
    ///   - cancel: The title of the button that does nothing, which is also that of the keys Enter and Escape.
    ///   - confirm: The title of the button for the action.
    ///   - handler: Receives true for the action.
    package func ask(
        _ heading: String, body: String, cancel: String, confirm: String,
        _ handler: @escaping (_ isConfirmed: Bool) -> Void
    ) {
        let dialog = Widget(adw_message_dialog_new(window, heading, body))
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

    /// Shows the dialog for a file or folder. In a sandbox, the portal shows it.
    ///
    /// - Parameters:
    ///   - title: The title of the dialog.
    ///   - name: The proposed name of a new file; nil to choose one that exists.
    ///   - isFolder: True to choose a folder.
    ///   - folder: The folder that is shown first.
    ///   - completion: Receives the path unless the user cancels the dialog.
    package func choosePath(
        title: String, name: String? = nil, isFolder: Bool = false, folder: String,
        completion: @escaping (String) -> Void
    ) {
        let raw = gtk_file_chooser_native_new(
            title, window,
            name != nil
                ? GTK_FILE_CHOOSER_ACTION_SAVE
                : isFolder ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_OPEN,
            name == nil ? tr("_Choose") : tr("_Save"), tr("_Cancel"))
        let dialog = Object(owning: UnsafeMutableRawPointer(raw))
        if let name { gtk_file_chooser_set_current_name(dialog.opaque, name) }
        let location = g_file_new_for_path(folder)
        gtk_file_chooser_set_current_folder(dialog.opaque, location, nil)
        g_object_unref(UnsafeMutableRawPointer(location))
        gtk_native_dialog_set_modal(dialog.cast(), 1)
        // The closure keeps the dialog until the response.
        var kept: Object? = dialog
        dialog.connect("response") { call in
            guard let dialog = kept else { return }
            kept = nil
            guard call.int(1) == Int(GTK_RESPONSE_ACCEPT.rawValue),
                let file = gtk_file_chooser_get_file(dialog.opaque)
            else { return }
            let path = text(taking: g_file_get_path(file))
            g_object_unref(UnsafeMutableRawPointer(file))
            if !path.isEmpty { completion(path) }
        }
        gtk_native_dialog_show(dialog.cast())
    }

    /// Shows facts about the program.
    package func showAbout(
        name: String, icon: String, version: String, website: String, comments: String
    ) {
        let about = Widget(adw_about_window_new())
        adw_about_window_set_application_name(about.opaque, name)
        adw_about_window_set_application_icon(about.opaque, icon)
        adw_about_window_set_version(about.opaque, version)
        adw_about_window_set_website(about.opaque, website)
        adw_about_window_set_comments(about.opaque, comments)
        adw_about_window_set_license_type(about.opaque, GTK_LICENSE_APACHE_2_0)
        gtk_window_set_transient_for(about.cast(), window)
        gtk_window_set_modal(about.cast(), 1)
        gtk_window_present(about.cast())
    }
}
