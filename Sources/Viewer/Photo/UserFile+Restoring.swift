internal import Glibc
internal import ProviderKit
internal import System
internal import Toolkit

// The trash of the desktop. Source: the Trash specification of freedesktop.org, version 1.0.
nonisolated extension UserFile {
    /// Moves a file from the trash back to its place. Blocks; for use on another thread.
    ///
    /// - Parameters:
    ///   - path: The absolute path that the file had.
    ///   - home: The trash of the home directory.
    /// - Returns: False if the trash does not contain the file, or its place is taken.
    static func restore(_ path: String, home: String = "\(dataFolder)/Trash") -> Bool {
        guard let (folder, name) = find(path, home) else { return false }
        // The place may be taken again.
        guard link("\(folder)/files/\(name)", path) == 0 else { return false }
        unlink("\(folder)/files/\(name)")
        unlink("\(folder)/info/\(name).trashinfo")
        return true
    }

    /// Returns the trash and the name of the file in it that was deleted last at a path.
    private static func find(_ path: String, _ home: String) -> (folder: String, name: String)? {
        // The trash of another disk is in its top folder, and has relative paths.
        var places = [(home, path)]
        var folder = path
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            let relative = String(path.dropFirst(folder.count + 1))
            places.append(("\(folder)/.Trash/\(getuid())", relative))
            places.append(("\(folder)/.Trash-\(getuid())", relative))
        }
        for (folder, path) in places {
            let names = (try? DirectoryListing("\(folder)/info").names) ?? []
            let found = names.filter {
                $0.hasSuffix(".trashinfo") && stored("\(folder)/info/\($0)") == path
            }
            .max { deleted("\(folder)/info/\($0)") < deleted("\(folder)/info/\($1)") }
            if let found { return (folder, String(found.dropLast(".trashinfo".count))) }
        }
        return nil
    }

    /// Returns the path in a file of information; nil if it has none.
    private static func stored(_ file: String) -> String? {
        value("Path=", of: file).flatMap { URLEncoding.bytes($0[...]) }
            .flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func deleted(_ file: String) -> String { value("DeletionDate=", of: file) ?? "" }

    private static func value(_ key: String, of path: String) -> String? {
        read(path).split(separator: "\n").first { $0.hasPrefix(key) }.map {
            String($0.dropFirst(key.count))
        }
    }
}
