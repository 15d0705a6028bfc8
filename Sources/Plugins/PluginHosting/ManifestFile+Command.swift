internal import Glibc
internal import PluginProtocol

/// The command of a plugin: the value of `Exec`.
nonisolated extension ManifestFile {
    /// Returns the path of the program, and its arguments.
    ///
    /// - Parameter line: The value.
    /// - Returns: The words of the command.
    /// - Throws: ``PluginFault`` if the program or a file is missing, or cannot be used in the sandbox.
    func command(_ line: String) throws(PluginFault) -> [String] {
        var words = try Self.split(line)
        guard let name = words.first else { throw PluginFault("Exec is empty.") }
        words[0] = try program(name)
        // Arguments may name files in the folder, for example a script.
        for index in words.indices.dropFirst() where words[index].hasPrefix("./") {
            words[index] = try file(folder + words[index].dropFirst())
        }
        return words
    }

    /// Returns the files that a command may use, with links resolved, whether they exist or not.
    func files(ofCommand line: String) -> [String] {
        let words = (try? Self.split(line)) ?? []
        let arguments = words.dropFirst().filter { $0.hasPrefix("./") }.map {
            folder + $0.dropFirst()
        }
        let files = (words.first.map(candidates) ?? []) + arguments
        return files.flatMap { path in
            let resolved = (try? Self.resolve(path)) ?? path
            return resolved == path ? [path] : [path, resolved]
        }
    }

    /// Returns the paths at which a program is looked for.
    private func candidates(_ name: String) -> [String] {
        if name.hasPrefix("/") { return [name] }
        if name.contains("/") { return ["\(folder)/\(name)"] }
        return ["/usr/local/bin/", "/usr/bin/", "/bin/"].map { $0 + name }
    }

    private func program(_ name: String) throws(PluginFault) -> String {
        guard let path = candidates(name).first(where: { access($0, X_OK) == 0 }) else {
            throw PluginFault("The program of Exec, \(name), does not exist or is not executable.")
        }
        return try file(path)
    }

    /// Returns the path of a file that the plugin can access in its sandbox.
    private func file(_ path: String) throws(PluginFault) -> String {
        let resolved = try Self.resolve(path)
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PluginFault("\(path) of Exec is not a regular file.")
        }
        try Self.checkMode(status, resolved)
        try Self.checkMode(Self.parent(of: resolved))
        let roots = SandboxKind.systemFolders + [folder]
        guard roots.contains(where: { resolved.hasPrefix("\($0)/") }) else {
            throw PluginFault(
                "\(path) of Exec must be in /usr, in /opt or in the folder of the manifest.")
        }
        // A system program is started by its original path: several names may be links to one file.
        return resolved.hasPrefix("\(folder)/") ? resolved : path
    }

    /// Splits a line at blanks outside of double quotes. There is no shell and no variable.
    private static func split(_ line: String) throws(PluginFault) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case " ", "\t":
                guard !isQuoted else { fallthrough }
                if let whole = word { words.append(whole) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { throw PluginFault("Exec contains an unmatched quotation mark.") }
        if let word { words.append(word) }
        return words
    }
}
