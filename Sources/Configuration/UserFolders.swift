internal import CGLib
internal import Glibc
internal import Quoting

/// The folders of the user.
///
/// Source: XDG Base Directory Specification, which requires that relative paths in its variables are ignored.
package struct UserFolders: Sendable {
    /// The home directory.
    package let home: String
    /// `$XDG_CONFIG_HOME/imagefeed`
    package let configuration: String
    /// `$XDG_DATA_HOME/imagefeed`
    package let data: String
    /// `$XDG_CACHE_HOME/imagefeed`, or the folder that replaces it
    package var cache: String
    /// `$XDG_RUNTIME_DIR/imagefeed`; nil without this variable
    package let runtime: String?
    /// The folders in which plugins are installed, the user's first.
    package let providers: [String]
    /// The configuration files, those of the system first.
    package let configurationFiles: [String]

    /// - Parameter environment: The variables of the process.
    package init(environment: [String: String]) {
        func folder(_ variable: String, _ fallback: String) -> String {
            environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? fallback
        }
        func folders(_ variable: String, _ fallback: [String]) -> [String] {
            let folders = (environment[variable] ?? "").split(separator: ":")
                .filter { $0.hasPrefix("/") }.map(String.init)
            return folders.isEmpty ? fallback : folders
        }
        home = folder("HOME", String(cString: g_get_home_dir()))
        configuration = folder("XDG_CONFIG_HOME", "\(home)/.config") + "/imagefeed"
        data = folder("XDG_DATA_HOME", "\(home)/.local/share") + "/imagefeed"
        cache = folder("XDG_CACHE_HOME", "\(home)/.cache") + "/imagefeed"
        let runtime = folder("XDG_RUNTIME_DIR", "")
        self.runtime = runtime.isEmpty ? nil : "\(runtime)/imagefeed"
        let shared = folders("XDG_DATA_DIRS", ["/usr/local/share", "/usr/share"])
        providers = ["\(data)/providers"] + shared.map { "\($0)/imagefeed/providers" }
        let system = folders("XDG_CONFIG_DIRS", ["/etc/xdg"]).reversed()
        configurationFiles =
            system.map { "\($0)/imagefeed/imagefeed.conf" }
            + ["\(configuration)/imagefeed.conf"]
    }

    /// Removes relative paths of the user's folders from the environment, because GLib does not ignore them. Must be
    /// called before the first call of GLib, and before there is another thread.
    package static func removeRelativeVariables() {
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            guard let value = getenv(name), value.pointee != CChar(UInt8(ascii: "/")) else {
                continue
            }
            unsetenv(name)
        }
    }

    /// Returns the folders of the user of this process.
    ///
    /// Image paths are D-Bus strings, which must be UTF-8. The folders of the daemon therefore must be valid UTF-8,
    /// too: the user would not find the files in a replacement. A shared folder that is not valid UTF-8 is ignored.
    ///
    /// - Throws: ``UnusableFolder``.
    package static func ofThisProcess() throws(UnusableFolder) -> UserFolders {
        var variables: [String: String] = [:]
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            guard let value = getenv(name) else { continue }
            guard let text = String(validatingCString: value) else {
                throw UnusableFolder(variable: name)
            }
            variables[name] = text
        }
        if let value = getenv("XDG_RUNTIME_DIR") {
            variables["XDG_RUNTIME_DIR"] = String(validatingCString: value)
        }
        for name in ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"] {
            guard let value = getenv(name) else { continue }
            variables[name] = [UInt8](cString: value).split(separator: UInt8(ascii: ":"))
                .compactMap { String(validating: $0, as: UTF8.self) }.joined(separator: ":")
        }
        return UserFolders(environment: variables)
    }

    /// Returns an absolute path for a path in the configuration, which is relative to the home directory and may begin
    /// with `~/`.
    package func absolutePath(_ path: [UInt8]) -> [UInt8] {
        if path.starts(with: "/".utf8) { return path }
        return Array("\(home)/".utf8) + path.dropFirst(path.starts(with: "~/".utf8) ? 2 : 0)
    }

    /// The user's pictures folder: the one in `user-dirs.dirs`, else `Pictures` in the home directory. It may be
    /// invalid UTF-8.
    ///
    /// xdg-user-dirs uses the home directory itself to express that there is no such folder.
    package var pictures: [UInt8] {
        // The user may have changed the file since GLib read it.
        g_reload_user_special_dirs_cache()
        if let folder = g_get_user_special_dir(G_USER_DIRECTORY_PICTURES) {
            let path = [UInt8](cString: folder)
            if path != Array(home.utf8), path != Array("\(home)/".utf8) { return path }
        }
        return Array("\(home)/Pictures".utf8)
    }
}

/// The error of a folder of the daemon whose path cannot be sent over D-Bus.
package struct UnusableFolder: Error, CustomStringConvertible {
    /// The environment variable that contains the path.
    package let variable: String

    package var description: String {
        "\(variable) is not valid UTF-8, as paths on D-Bus have to be; set it to another folder."
    }
}
