internal import Configuration
internal import ProviderKit

nonisolated extension Manifest {
    /// Reads a manifest, and collects its problems. The result is nil if the file cannot be read as a key file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, `…/NAME.provider`.
    ///   - settings: The settings of the provider.
    ///   - problems: Receives the problems. If there are any, the manifest must not be used.
    init?(path: String, settings: ProviderSettings, _ problems: inout ManifestProblems) {
        problems.stamp = FileStamps([path], folders: [ManifestFile.parent(of: path)])
        let allowsLoopback = settings["AllowLoopback"] == "true"
        let addresses = ManifestAddresses(allowsLoopback: allowsLoopback)
        guard
            let found = problems.check("", nil, nil, try ManifestFile(path: path) as ManifestFile?),
            let file = Self.keyFile(found.text, &problems)
        else { return nil }
        let main = ManifestGroup("Provider", file.groups)
        let login = ManifestGroup("Authentication", file.groups)
        let files = ManifestCommand.files(main["Exec"] ?? "", in: found.folder)
        problems.stamp = FileStamps(
            [path] + files, folders: [found.folder] + files.map(ManifestFile.parent))
        for name in file.groups.keys.sorted() where name != main.name && name != login.name {
            // The Desktop Entry Specification reserves the prefix X- for extensions.
            guard !name.hasPrefix("X-") else { continue }
            problems.add(
                ManifestProblem(
                    "[\(name)] is not a group of a manifest; use [Provider] and [Authentication]."
                ),
                name)
        }
        main.expect(
            [
                "Id", "Name", "Icon", "Exec", "Capabilities", "DefaultSource", "Sources", "Hosts",
                "LastingPlaces", "LikedTogether", "SecretSettings",
            ], &problems)
        let group = main.name
        if problems.check(group, "Id", found.id, try main.required("Id")) != found.id {
            problems.add(
                ManifestProblem("Id must be \(found.id), the file name without .provider."),
                group, "Id")
        }
        let sources = problems.check(
            group, "Sources", nil,
            try main.list("Sources", required: true).map(SourcePattern.init)
                as [SourcePattern]?)
        let hosts = problems.check(
            group, "Hosts", (patterns: [], origins: []),
            try addresses.hosts(main.list("Hosts", required: false)))
        let name = problems.check(group, "Name", "", try main.line("Name"))
        let icon = problems.check(
            group, "Icon", "", try main.line("Icon", default: "image-x-generic"))
        let capabilities = problems.check(
            group, "Capabilities", [],
            try Self.capabilities(main.list("Capabilities", required: true)))
        let defaultSource = problems.check(
            group, "DefaultSource", SourceID(""),
            try Self.source(main.required("DefaultSource"), in: sources))
        for problem in Self.missingSources(of: capabilities, in: sources) {
            problems.add(problem, group, "Capabilities")
        }
        command = problems.check(
            group, "Exec", [], try ManifestCommand.words(main.required("Exec"), in: found.folder))
        folder = found.folder
        self.sources = sources ?? []
        login.expect(PluginLogin.keys, &problems)
        let kind = problems.check(
            login.name, nil, .open(needsServer: false), try PluginLogin(login, addresses))
        self.login = kind
        info = ProviderInfo(
            id: found.id, name: name, iconName: icon, authentication: kind.authentication,
            capabilities: capabilities.sorted { $0.rawValue < $1.rawValue }
                + (kind.needsServer ? [.server] : []),
            defaultSource: defaultSource)
        allowsHomeServers = problems.check(
            login.name, "HomeServers", false,
            try kind.homeServers(login.flag("HomeServers"), hasHosts: !hosts.patterns.isEmpty))
        hasStablePageTokens = problems.check(
            group, "LastingPlaces", false, try main.flag("LastingPlaces"))
        likeGroupEnd = problems.check(
            group, "LikedTogether", nil, try main.character("LikedTogether"))
        secretSettings = problems.check(
            group, "SecretSettings", [], Set(try main.list("SecretSettings", required: false)))
        loopbackServers = problems.check(
            group, nil, LoopbackServers(),
            try ManifestAddresses.loopbackServers(allowsLoopback ? settings : ProviderSettings()))
        // The hosts that receive the key or the token are permitted, too.
        var patterns = hosts.patterns
        var origins = hosts.origins
        for text in self.login.credentialOrigins {
            guard let address = WebAddress(text) else { continue }
            if address.isLoopback {
                origins.insert(address.origin)
            } else if let pattern = AllowedHosts.Pattern(String(address.origin.dropFirst(8))) {
                patterns.append(pattern)
            }
        }
        self.hosts = patterns
        loopbackOrigins = origins
        stamp = problems.stamp
    }

    private static func source(
        _ text: String, in sources: [SourcePattern]?
    ) throws(ManifestProblem) -> SourceID {
        let source = SourceID(text)
        guard text.utf8.count <= 512, ServiceText.line(text) == text else {
            throw ManifestProblem("DefaultSource must be one line of at most 512 bytes.")
        }
        guard sources?.contains(where: { $0.matches(source) }) ?? true else {
            throw ManifestProblem("DefaultSource matches no entry of Sources; add it there.")
        }
        return source
    }

    /// Parses the groups, and checks the lines. The result is nil if the groups would not be what the author meant.
    private static func keyFile(_ text: String, _ problems: inout ManifestProblems) -> KeyFile? {
        let lines = ManifestLines(text)
        problems.lines = lines
        guard lines.count <= ManifestLines.maximum else {
            problems.add(
                ManifestProblem("The manifest has more than \(ManifestLines.maximum) lines."))
            return nil
        }
        if let first = lines.indented.first {
            let count = lines.indented.count - 1
            let others = count == 0 ? "begins" : "and \(count) more begin"
            problems.add(
                ManifestProblem("Line \(first) \(others) with a blank; remove the indentation."),
                line: first)
            return nil
        }
        let file = KeyFile(text)
        for line in file.badLines {
            problems.add(
                ManifestProblem("Line \(line.number) cannot be read: \(line.reason)"),
                line: line.number)
        }
        for (place, number) in lines.repetitions {
            problems.add(
                ManifestProblem(
                    "\(place.key) in [\(place.group)] is set more than once; remove a line."),
                line: number)
        }
        return file
    }

    private static func capabilities(
        _ names: [String]
    ) throws(ManifestProblem) -> Set<ProviderInfo.Capability> {
        var capabilities: Set<ProviderInfo.Capability> = []
        for name in names {
            guard let capability = ProviderInfo.Capability(rawValue: name),
                [.feed, .like, .profile, .albums, .search, .download].contains(capability)
            else {
                throw ManifestProblem(
                    "\(name) is not a capability of a plugin; use feed, like, profile, albums, search and download."
                )
            }
            capabilities.insert(capability)
        }
        guard capabilities.contains(.feed) else {
            throw ManifestProblem("Capabilities does not contain feed; add it.")
        }
        return capabilities
    }

    /// Returns the problems of capabilities without their source.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities.
    ///   - sources: The entries of `Sources`; nil if they have a problem.
    /// - Returns: A problem for each capability without its source.
    private static func missingSources(
        of capabilities: Set<ProviderInfo.Capability>, in sources: [SourcePattern]?
    ) -> [ManifestProblem] {
        guard let sources else { return [] }
        var problems: [ManifestProblem] = []
        if capabilities.contains(.like), !sources.contains(where: { $0.matches(SourceID("likes")) })
        {
            problems.append(
                ManifestProblem(
                    "Capabilities contains like, but Sources does not contain likes; add it."))
        }
        if capabilities.contains(.search),
            !sources.contains(where: { $0.prefix.map { "search:".hasPrefix($0) } ?? false })
        {
            problems.append(
                ManifestProblem(
                    "Capabilities contains search, but Sources does not contain search:*; add it."))
        }
        return problems
    }
}
