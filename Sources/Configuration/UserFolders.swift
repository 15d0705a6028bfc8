internal import CGLib
internal import Glibc

/// Where a user's files lie.
///
/// Source: XDG Base Directory Specification. A relative path in its variables is ignored, as it says.
package struct UserFolders: Sendable {
    package let home: String
    /// `$XDG_CONFIG_HOME/imagefeed`
    package let configuration: String
    /// `$XDG_DATA_HOME/imagefeed`
    package let data: String
    /// `$XDG_CACHE_HOME/imagefeed`, or the folder that is used in its place
    package var cache: String
    /// Where plugins are installed, the user's first.
    package let providers: [String]
    /// The configuration files, the system's first.
    package let configurationFiles: [String]

    /// - Parameter environment: The variables of the process.
    package init(environment: [String: String]) {
        func folder(_ variable: String, _ fallback: String) -> String {
            environment[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? fallback
        }
        home = folder("HOME", String(cString: g_get_home_dir()))
        configuration = folder("XDG_CONFIG_HOME", "\(home)/.config") + "/imagefeed"
        data = folder("XDG_DATA_HOME", "\(home)/.local/share") + "/imagefeed"
        cache = folder("XDG_CACHE_HOME", "\(home)/.cache") + "/imagefeed"
        let shared = (environment["XDG_DATA_DIRS"] ?? "").split(separator: ":")
            .filter { $0.hasPrefix("/") }.map(String.init)
        providers =
            ["\(data)/providers"]
            + (shared.isEmpty ? ["/usr/local/share", "/usr/share"] : shared).map {
                "\($0)/imagefeed/providers"
            }
        let system = (environment["XDG_CONFIG_DIRS"] ?? "").split(separator: ":")
            .filter { $0.hasPrefix("/") }.map(String.init)
        configurationFiles =
            (system.isEmpty ? ["/etc/xdg"] : system.reversed()).map {
                "\($0)/imagefeed/imagefeed.conf"
            }
            + ["\(configuration)/imagefeed.conf"]
    }

    /// The user's pictures folder: what `user-dirs.dirs` says, else `Pictures` at home.
    ///
    /// A folder that is the home itself means "none", as xdg-user-dirs writes it.
    ///
    /// The path need not be UTF-8.
    package var pictures: [UInt8] {
        if let folder = g_get_user_special_dir(G_USER_DIRECTORY_PICTURES) {
            let path = (0..<strlen(folder)).map { UInt8(bitPattern: folder[$0]) }
            if path != Array(home.utf8), path != Array("\(home)/".utf8) { return path }
        }
        return Array("\(home)/Pictures".utf8)
    }
}
