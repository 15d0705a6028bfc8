internal import Configuration
internal import Glibc
internal import PluginProtocol
internal import ProviderKit

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
    /// - Throws: ``PluginFault`` if the name, the permissions or the encoding is invalid.
    init(path: String) throws(PluginFault) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        id = String(name.dropLast(Self.suffix.count))
        folder = try Self.resolve(Self.parent(of: String(path.prefix { $0 != "\0" })))
        guard Self.isID(id) else {
            throw PluginFault(
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

    private static func read(_ path: String) throws(PluginFault) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw PluginFault("The file cannot be read: \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PluginFault("The manifest is not a regular file.")
        }
        try checkMode(status, path)
        guard status.st_size <= maximumBytes else {
            throw PluginFault("The manifest is larger than \(maximumBytes >> 10) KiB.")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard let text = String(validating: bytes[..<max(0, count)], as: UTF8.self),
            !text.utf8.contains(0)
        else { throw PluginFault("The manifest is not UTF-8 text.") }
        return text
    }

    static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    /// Throws if every user can change a folder, and replace the files in it.
    static func checkMode(_ folder: String) throws(PluginFault) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw PluginFault("\(folder) does not exist.")
        }
        try checkMode(status, folder)
    }

    /// Throws if every user can change a file or folder.
    static func checkMode(_ status: stat, _ path: String) throws(PluginFault) {
        guard status.st_mode & S_IWOTH == 0 else {
            throw PluginFault(
                "Every user can change \(path); remove this permission with “chmod o-w”.")
        }
    }

    /// Returns a path with links resolved.
    static func resolve(_ path: String) throws(PluginFault) -> String {
        guard let resolved = realpath(path, nil) else {
            throw PluginFault("\(path) does not exist.")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The lines of a manifest, for rules that `GKeyFile` does not have, and for the numbers of lines in messages.
nonisolated struct ManifestLines {
    /// The largest number of lines. It limits the time that the daemon needs for a file with many problems.
    static let maximum = 1000

    let count: Int
    /// The number of the first line of each key by its group, from 1. An empty key is the heading of the group.
    private(set) var numbers: [String: [String: Int]] = [:]
    /// The keys that are set again, with the numbers of these lines. Groups with the prefix `X-` are for other programs.
    private(set) var repetitions: [(group: String, key: String, number: Int)] = []
    /// The numbers of the lines that begin with a blank, as in a text that was copied from a manual page.
    private(set) var indented: [Int] = []

    init(_ text: String) {
        // By bytes, because CR LF is a single Character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        count = lines.count
        guard count <= Self.maximum else { return }
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        for (index, line) in lines.enumerated() where line.first.map(isBlank) == true {
            if line.contains(where: { !isBlank($0) && $0 != UInt8(ascii: "\r") }) {
                indented.append(index + 1)
            }
        }
        for (group, key, line) in KeyFile.entries(of: Array(text.utf8)) {
            let key = key ?? ""
            if numbers[group]?[key] == nil {
                numbers[group, default: [:]][key] = line
            } else if !key.isEmpty, !group.hasPrefix("X-") {
                repetitions.append((group, key, line))
            }
        }
    }
}

/// The problems of a manifest, in the order in which they are found.
nonisolated final class ManifestProblems {
    /// The number of problems that are reported.
    static let maximum = 20

    /// The problems, each one sentence for the author, with the number of the line that it concerns, from 1; nil if it
    /// concerns no line.
    private(set) var all: [(text: String, line: Int?)] = []
    /// The lines of the file, for their numbers.
    var lines = ManifestLines("")
    /// The state of the files and folders that the problems may concern.
    var stamp = FileStamps([])

    /// Adds a problem, unless there are enough.
    ///
    /// - Parameters:
    ///   - problem: A sentence that may quote the manifest.
    ///   - group: The group that the problem concerns.
    ///   - key: The key in the group that the problem concerns. Without such a line, the problem concerns the heading.
    ///   - line: The line, if it is known.
    func add(
        _ problem: @autoclosure () -> String, _ group: String = "", _ key: String? = nil,
        line: Int? = nil
    ) {
        guard all.count < Self.maximum else { return }
        let known = [key ?? "", ""].lazy.compactMap { [lines] in lines.numbers[group]?[$0] }
        all.append((ServiceText.message(problem()) ?? "", line ?? known.first))
    }

    /// Evaluates a part of the manifest, and adds its problem.
    ///
    /// - Returns: The part; nil if it has a problem.
    func check<Value>(
        _ group: String, _ key: String? = nil, _ body: () throws(PluginFault) -> Value
    ) -> Value? {
        do throws(PluginFault) {
            return try body()
        } catch {
            add(error.description, group, key)
            return nil
        }
    }
}
