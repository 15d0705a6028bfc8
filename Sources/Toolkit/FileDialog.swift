internal import CAdwaita

/// The dialog for a file or folder, which the portal shows in a sandbox.
@MainActor
package enum FileDialog {
    /// The choice of the user.
    package enum Choice: Sendable {
        /// A new file, with the proposed name.
        case newFile(String)
        case folder
    }

    /// Shows the dialog.
    ///
    /// - Parameters:
    ///   - parent: The window.
    ///   - title: The title of the dialog.
    ///   - choice: The choice of the user.
    ///   - folder: The folder that is shown first.
    ///   - completion: Receives the path; nil if the user cancelled it.
    package static func present(
        _ parent: Window, title: String, _ choice: Choice, folder: String,
        completion: @escaping (String?) -> Void
    ) {
        let (action, button) =
            if case .folder = choice {
                (GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, "_Choose")
            } else {
                (GTK_FILE_CHOOSER_ACTION_SAVE, "_Save")
            }
        let raw = gtk_file_chooser_native_new(title, parent.window, action, button, "_Cancel")
        let dialog = Object(owning: UnsafeMutableRawPointer(raw))
        if case .newFile(let name) = choice {
            gtk_file_chooser_set_current_name(dialog.opaque, name)
        }
        let location = g_file_new_for_path(folder)
        gtk_file_chooser_set_current_folder(dialog.opaque, location, nil)
        g_object_unref(UnsafeMutableRawPointer(location))
        // The closure keeps the dialog until the response.
        var kept: Object? = dialog
        dialog.connect("response") { call in
            guard let dialog = kept else { return }
            kept = nil
            guard call.int(1) == Int(GTK_RESPONSE_ACCEPT.rawValue),
                let file = gtk_file_chooser_get_file(dialog.opaque)
            else {
                completion(nil)
                return
            }
            let path = g_file_get_path(file)
            completion(path.map { text($0) })
            g_free(path)
            g_object_unref(UnsafeMutableRawPointer(file))
        }
        gtk_native_dialog_show(dialog.cast())
    }
}
