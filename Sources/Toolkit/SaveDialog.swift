internal import CAdwaita

/// The dialog for the name of a new file, which the portal shows in a sandbox.
@MainActor
package enum SaveDialog {
    /// Shows the dialog.
    ///
    /// - Parameters:
    ///   - parent: The window.
    ///   - title: The title of the dialog.
    ///   - name: The proposed name of the file.
    ///   - folder: The folder that is shown first.
    ///   - completion: Receives the path; nil if the user cancelled it.
    package static func present(
        _ parent: Window, title: String, name: String, folder: String,
        completion: @escaping (String?) -> Void
    ) {
        let raw = gtk_file_chooser_native_new(
            title, parent.window, GTK_FILE_CHOOSER_ACTION_SAVE, "_Save", "_Cancel")
        let dialog = Object(owning: UnsafeMutableRawPointer(raw))
        gtk_file_chooser_set_current_name(dialog.opaque, name)
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
