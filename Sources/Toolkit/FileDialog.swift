internal import CAdwaita
internal import Translation

/// The dialog for a file or folder, which the portal shows in a sandbox.
@MainActor
package enum FileDialog {
    /// Shows the dialog.
    ///
    /// - Parameters:
    ///   - parent: The window.
    ///   - title: The title of the dialog.
    ///   - name: The proposed name of a new file; nil to choose a folder.
    ///   - folder: The folder that is shown first.
    ///   - completion: Receives the path unless the user cancels the dialog.
    package static func present(
        _ parent: Window, title: String, name: String?, folder: String,
        completion: @escaping (String) -> Void
    ) {
        let raw = gtk_file_chooser_native_new(
            title, parent.window,
            name == nil ? GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER : GTK_FILE_CHOOSER_ACTION_SAVE,
            name == nil ? tr("_Choose") : tr("_Save"), tr("_Cancel"))
        let dialog = Object(owning: UnsafeMutableRawPointer(raw))
        if let name { gtk_file_chooser_set_current_name(dialog.opaque, name) }
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
            else { return }
            let path = text(taking: g_file_get_path(file))
            g_object_unref(UnsafeMutableRawPointer(file))
            if !path.isEmpty { completion(path) }
        }
        gtk_native_dialog_show(dialog.cast())
    }
}
