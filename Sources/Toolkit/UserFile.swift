internal import CAdwaita

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

    /// Creates a folder unless it exists.
    package nonisolated static func createFolder(_ path: String) {
        g_mkdir_with_parents(path, 0o700)
    }

    /// Replaces a file, and creates its folder if necessary.
    package nonisolated static func write(_ text: String, to folder: String, _ name: String) {
        createFolder(folder)
        g_file_set_contents("\(folder)/\(name)", text, -1, nil)
    }
}
