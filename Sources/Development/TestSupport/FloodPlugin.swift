internal import FoundationEssentials

/// The plugin of `dist/development/flood-plugin.py`, which floods the daemon. Its argument selects the kind of flood.
package enum FloodPlugin {
    /// Installs the plugin once for each flood.
    ///
    /// - Parameters:
    ///   - floods: The arguments of the plugin.
    ///   - prefix: The beginning of the IDs; the flood is the rest.
    ///   - hosts: The hosts that the plugin may use.
    ///   - folder: The plugin folder, in `directory`.
    ///   - directory: The directory of the test.
    /// - Throws: The errors of reading and writing the files.
    package static func install(
        _ floods: [String], prefix: String = "", hosts: [String], in folder: String,
        of directory: TemporaryDirectory
    ) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../dist/development/flood-plugin.py").standardized.path
        try directory.write(
            String(contentsOfFile: file, encoding: .utf8), to: "\(folder)/flood/flood.py")
        for flood in floods {
            try directory.write(
                """
                [Provider]
                Id=\(prefix)\(flood)
                Name=\(flood)
                Exec=/usr/bin/python3 ./flood/flood.py \(flood)
                Capabilities=feed;
                DefaultSource=home
                Sources=home;
                Hosts=\(hosts.joined(separator: ";"));
                [Authentication]
                Type=none
                """, to: "\(folder)/\(prefix)\(flood).provider")
        }
    }
}
