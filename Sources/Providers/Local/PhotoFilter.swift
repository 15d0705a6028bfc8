internal import ProviderKit

/// The decision which files and folders below the pictures folder are never shown.
struct PhotoFilter: Sendable, Hashable {
    /// The patterns of the user.
    var exclusions = PathPatterns(list: "")

    /// The files that hide their folder and all folders below it.
    private static let markers: Set = [Array(".nomedia".utf8), Array(".noimage".utf8)]
    private static let systemFolders: Set = [
        "$recycle.bin", "lost+found", "system volume information",
    ]
    static let backupEndings = ["~", ".orig", "_original"].map { Array($0.utf8) }

    /// Returns true if a file with this name hides its folder.
    static func isMarker(_ name: [UInt8]) -> Bool { markers.contains(name) }

    /// Returns true if a folder is hidden by its name. The folders above it are not considered.
    func hidesFolder(_ path: RelativePath) -> Bool {
        guard let name = path.split?.name else { return false }
        return name.first.map(Array(".@#".utf8).contains) == true
            || Self.systemFolders.contains(String(decoding: name, as: UTF8.self).lowercased())
            || exclusions.contains(path.bytes)
    }

    /// Returns true if a file is hidden by its name. The folders above it are not considered.
    func hidesFile(_ path: RelativePath) -> Bool {
        guard let name = path.split?.name else { return true }
        return name.first == UInt8(ascii: ".")
            || Self.backupEndings.contains {
                name.count > $0.count && name.suffix($0.count) == $0[...]
            }
            || exclusions.contains(path.bytes)
    }
}
