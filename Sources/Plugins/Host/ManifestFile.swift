internal import Glibc

/// The file of a manifest, and the checks of files and folders that a manifest names.
nonisolated struct ManifestFile {
    /// The ID of the provider: the name of the file without its suffix.
    let id: String
    /// The folder of the file, with links resolved.
    let folder: String
    let text: String

    /// The suffix of the name of a manifest.
    static let suffix = ".provider"
    /// The largest size of a manifest.
    private static let maximumBytes = 64 << 10

    /// Reads a file.
    ///
    /// - Parameter path: The path of the file, `…/NAME.provider`.
    /// - Throws: ``ManifestProblem`` if the name, the permissions or the encoding is invalid.
    init(path: String) throws(ManifestProblem) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        id = String(name.dropLast(Self.suffix.count))
        folder = try Self.resolve(Self.parent(of: String(path.prefix { $0 != "\0" })))
        guard Self.isID(id) else {
            throw ManifestProblem(
                "The file name is not a valid provider ID: use a lower-case letter, then at most 31 lower-case letters, digits and underscores."
            )
        }
        try Self.checkMode(folder)
        text = try Self.read(path)
    }

    /// Returns true if a text is a valid provider ID.
    static func isID(_ text: String) -> Bool {
        guard 1...32 ~= text.utf8.count, let first = text.utf8.first else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return letters.contains(first)
            && text.utf8.allSatisfy {
                letters.contains($0) || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "_")
            }
    }

    private static func read(_ path: String) throws(ManifestProblem) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ManifestProblem("The file cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ManifestProblem("The manifest is not a regular file.")
        }
        try checkMode(status, path)
        guard status.st_size <= maximumBytes else {
            throw ManifestProblem("The manifest is larger than \(maximumBytes >> 10) KiB.")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard let text = String(validating: bytes[..<max(0, count)], as: UTF8.self),
            !text.utf8.contains(0)
        else { throw ManifestProblem("The manifest is not UTF-8 text.") }
        return text
    }

    static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    /// Throws if every user can change a folder, and replace the files in it.
    static func checkMode(_ folder: String) throws(ManifestProblem) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw ManifestProblem("\(folder) does not exist.")
        }
        try checkMode(status, folder)
    }

    /// Throws if every user can change a file or folder.
    static func checkMode(_ status: stat, _ path: String) throws(ManifestProblem) {
        guard status.st_mode & S_IWOTH == 0 else {
            throw ManifestProblem(
                "Every user can change \(path); remove this permission with “chmod o-w”.")
        }
    }

    /// Returns a path with links resolved.
    static func resolve(_ path: String) throws(ManifestProblem) -> String {
        guard let resolved = realpath(path, nil) else {
            throw ManifestProblem("\(path) does not exist.")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
