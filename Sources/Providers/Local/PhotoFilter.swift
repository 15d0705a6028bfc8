internal import ImageMetadata
internal import ProviderKit

/// The decision which files and folders below the pictures folder are never shown.
struct PhotoFilter: Sendable, Hashable {
    /// The patterns of the user.
    var exclusions = PathPatterns(list: "")

    /// The files that hide their folder and all folders below it.
    static let markers: Set = [Array(".nomedia".utf8), Array(".noimage".utf8)]
    private static let systemFolders: Set = [
        "$recycle.bin", "lost+found", "system volume information",
    ]
    static let backupEndings = ["~", ".orig", "_original"].map { Array($0.utf8) }

    /// The endings of names of raw files, and of the pictures that cameras store beside them.
    private static let rawEndings = [
        "3fr", "arw", "cr2", "cr3", "crw", "dcr", "dcs", "dng", "erf", "fff", "gpr", "iiq", "k25",
        "kdc", "mef", "mos", "mrw", "nef", "nrw", "orf", "ori", "pef", "raf", "raw", "rw2", "rwl",
        "sr2", "srf", "srw", "x3f",
    ]
    private static let pictureEndings = [ImageFormat.jpeg, .heic].flatMap(\.fileExtensions)

    /// The endings in lower or upper case, or with a capital letter. Those of each picture that changes are looked up.
    private static let writtenRawEndings = rawEndings.flatMap {
        Set([$0, $0.uppercased(), $0.prefix(1).uppercased() + $0.dropFirst()])
    }
    /// The endings with each letter in lower or upper case.
    private static let writtenPictureEndings = pictureEndings.flatMap { ending in
        ending.reduce([""]) { starts, letter in
            starts.flatMap { [$0 + letter.lowercased(), $0 + letter.uppercased()] }
        }
    }

    /// Returns true if a file with this name, also in capital letters, hides its folder.
    static func isMarker(_ name: [UInt8]) -> Bool { markers.contains(name.lowercased) }

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

    /// Returns the paths of pictures that hide a raw file; none for other files.
    ///
    /// - Parameters:
    ///   - path: The path of the raw file.
    ///   - names: The paths of the files in its folder; nil if they are unknown.
    /// - Returns: The paths among `names`, or all possible ones.
    func pictures(besideRaw path: RelativePath, among names: Set<RelativePath>?) -> [RelativePath] {
        Self.paths(beside: path, Self.rawEndings, Self.writtenPictureEndings)
            .filter { names?.contains($0) != false && !hidesFile($0) }
    }

    /// Returns the paths of raw files that a picture hides; none for other files.
    func rawFiles(besidePicture path: RelativePath) -> [RelativePath] {
        hidesFile(path)
            ? [] : Self.paths(beside: path, Self.pictureEndings, Self.writtenRawEndings)
    }

    /// Returns the paths with other endings; none if `path` has not one of `endings`.
    private static func paths(
        beside path: RelativePath, _ endings: [String], _ others: [String]
    ) -> [RelativePath] {
        guard let dot = path.bytes.suffix(5).lastIndex(of: UInt8(ascii: ".")),
            case let ending = String(decoding: path.bytes[(dot + 1)...], as: UTF8.self),
            endings.contains(ending.lowercased())
        else { return [] }
        return others.map { RelativePath(bytes: Array(path.bytes[...dot]) + $0.utf8) }
    }
}
