internal import CAdwaita
internal import Glibc

/// The files of the user.
package enum UserFile {
    /// `$XDG_STATE_HOME/imagefeed`
    package nonisolated static var stateFolder: String {
        "\(text(g_get_user_state_dir()))/imagefeed"
    }
    /// `$XDG_DATA_HOME`
    package nonisolated static var dataFolder: String { text(g_get_user_data_dir()) }

    /// Returns the text of a file; empty if it cannot be read.
    package nonisolated static func read(_ path: String) -> String {
        var contents: UnsafeMutablePointer<CChar>?
        guard g_file_get_contents(path, &contents, nil, nil) != 0 else { return "" }
        return text(taking: contents)
    }

    /// Replaces a file, and creates its folder if necessary.
    package nonisolated static func write(_ text: String, to folder: String, _ name: String) {
        g_mkdir_with_parents(folder, 0o700)
        g_file_set_contents("\(folder)/\(name)", text, -1, nil)
    }

    /// Moves a file to the trash. Blocks; for use on another thread.
    ///
    /// - Returns: The reason if it failed, else nil.
    package nonisolated static func trash(_ path: String) -> String? {
        let file = g_file_new_for_path(path)
        defer { g_object_unref(UnsafeMutableRawPointer(file)) }
        var failure: UnsafeMutablePointer<GError>?
        return g_file_trash(file, nil, &failure) == 0 ? message(taking: failure) : nil
    }

    /// Sorts the names of files by the user's language; numbers in them are compared by value.
    package nonisolated static func sorted(_ names: [String]) -> [String] {
        let keyed = names.map { name in
            let key = g_utf8_collate_key_for_filename(name, -1)
            defer { g_free(key) }
            // The key is not text.
            return (
                key: Array(UnsafeBufferPointer(start: key, count: key.map { strlen($0) } ?? 0)),
                name: name
            )
        }
        return keyed.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.name)
    }

    /// Returns a number of bytes as text.
    package static func sizeText(_ byteCount: Int64) -> String {
        text(taking: g_format_size(guint64(max(0, byteCount))))
    }

    /// Returns the address of a file.
    package static func uri(_ path: String) -> String {
        let file = g_file_new_for_path(path)
        defer { g_object_unref(UnsafeMutableRawPointer(file)) }
        return text(taking: g_file_get_uri(file))
    }
}

extension Window {
    /// Lets the user choose a program, and opens the file with it.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - completion: Called with the reason if the program could not be started.
    package func openWith(_ path: String, completion: @escaping (String) -> Void) {
        let file = Object(owning: g_file_new_for_path(path))
        let dialog = Widget(gtk_app_chooser_dialog_new(window, GTK_DIALOG_MODAL, file.opaque))
        dialog.connect("response") { call in
            defer { gtk_window_destroy(UnsafeMutablePointer(call.sender)) }
            guard call.int(1) == Int(GTK_RESPONSE_OK.rawValue),
                let program = gtk_app_chooser_get_app_info(call.sender)
            else { return }
            defer { g_object_unref(UnsafeMutableRawPointer(program)) }
            var failure: UnsafeMutablePointer<GError>?
            let files = g_list_append(nil, file.raw)
            if g_app_info_launch(program, files, nil, &failure) == 0 {
                completion(message(taking: failure))
            }
            g_list_free(files)
        }
        gtk_window_present(dialog.cast())
    }
}
