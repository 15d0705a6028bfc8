internal import Configuration
internal import PluginProtocol
internal import ProviderKit

nonisolated extension Manifest {
    /// Reads a manifest, and collects its problems. The result is nil if there are any.
    ///
    /// - Parameters:
    ///   - path: The path of the file, `…/NAME.provider`.
    ///   - settings: The settings of the provider.
    ///   - problems: Receives the problems.
    init?(path: String, settings: ProviderSettings, _ problems: ManifestProblems) {
        problems.stamp = FileStamps([path], folders: [ManifestFile.parent(of: path)])
        let found = problems.check("") { () throws(PluginFault) in try ManifestFile(path: path) }
        guard let found, let groups = Self.groups(found.text, problems) else { return nil }
        let allowsLoopback = settings["AllowLoopback"] == "true"
        let main = ManifestGroup("Provider", groups, problems, allowsLoopback: allowsLoopback)
        let login = ManifestGroup(
            "Authentication", groups, problems, allowsLoopback: allowsLoopback)
        let files = found.files(ofCommand: main["Exec"] ?? "")
        problems.stamp = FileStamps(
            [path] + files, folders: [found.folder] + files.map(ManifestFile.parent))
        stamp = problems.stamp
        for name in groups.keys.sorted() where name != main.name && name != login.name {
            // The Desktop Entry Specification reserves the prefix X- for extensions.
            guard !name.hasPrefix("X-") else { continue }
            problems.add(
                "[\(name)] is not a group of a manifest; use [Provider] and [Authentication].", name
            )
        }
        main.expect([
            "Id", "Name", "Icon", "Exec", "Capabilities", "DefaultSource", "Sources", "Hosts",
            "LastingPlaces", "LikedTogether",
        ])
        login.expect(PluginLogin.keys)
        if let id = main.required("Id"), id != found.id {
            main.report("Id must be \(found.id), the file name without .provider.", "Id")
        }
        sources = main.list("Sources", isRequired: true).map(SourcePattern.init)
        var hosts = main.hosts()
        let name = main.line("Name")
        let icon = main.line("Icon", default: "image-x-generic")
        let capabilities = Self.capabilities(main, sources)
        let defaultSource = Self.defaultSource(main, sources)
        folder = found.folder
        command =
            main.required("Exec").flatMap { line in
                problems.check(main.name, "Exec") { () throws(PluginFault) in
                    try found.command(line)
                }
            } ?? []
        let kind = PluginLogin(login)
        allowsHomeServers = login.flag("HomeServers")
        if allowsHomeServers { kind?.checkHomeServers(login, hasHosts: !hosts.patterns.isEmpty) }
        hasStablePageTokens = main.flag("LastingPlaces")
        likeGroupEnd = main.character("LikedTogether")
        let loopbackServers = LoopbackServers(
            allowsLoopback ? settings["LoopbackServers"] ?? "" : "")
        if loopbackServers == nil {
            main.report("LoopbackServers in the configuration \(LoopbackServers.rule)")
        }
        guard problems.all.isEmpty, let kind, let loopbackServers else { return nil }
        self.loopbackServers = loopbackServers
        self.login = kind
        info = ProviderInfo(
            id: found.id, name: name, iconName: icon, authentication: kind.authentication,
            capabilities: capabilities.sorted { $0.rawValue < $1.rawValue }
                + (kind.needsServer ? [.server] : []),
            defaultSource: defaultSource)
        // The hosts that receive the key or the token are permitted, too.
        for address in kind.credentialOrigins.compactMap({ WebAddress($0) }) {
            if address.isLoopback {
                hosts.origins.insert(address.origin)
            } else if let pattern = AllowedHosts.Pattern(String(address.origin.dropFirst(8))) {
                hosts.patterns.append(pattern)
            }
        }
        (self.hosts, loopbackOrigins) = (hosts.patterns, hosts.origins)
    }

    /// Parses the groups, and checks the lines. The result is nil if the groups would not be what the author meant.
    private static func groups(
        _ text: String, _ problems: ManifestProblems
    ) -> [String: [String: String]]? {
        let lines = ManifestLines(text)
        problems.lines = lines
        guard lines.count <= ManifestLines.maximum else {
            problems.add("The manifest has more than \(ManifestLines.maximum) lines.")
            return nil
        }
        if let first = lines.indented.first {
            let count = lines.indented.count - 1
            let others = count == 0 ? "begins" : "and \(count) more begin"
            problems.add(
                "Line \(first) \(others) with a blank; remove the indentation.", line: first)
            return nil
        }
        let file = KeyFile(text)
        for line in file.badLines {
            problems.add("Line \(line.number) cannot be read: \(line.reason)", line: line.number)
        }
        for (group, key, number) in lines.repetitions {
            problems.add("\(key) in [\(group)] is set more than once; remove a line.", line: number)
        }
        return file.groups
    }

    private static func defaultSource(
        _ group: ManifestGroup, _ sources: [SourcePattern]
    ) -> SourceID {
        let key = "DefaultSource"
        guard let text = group.required(key) else { return SourceID("") }
        let source = SourceID(text)
        if text.utf8.count > 512 || ServiceText.line(text) != text {
            group.report("DefaultSource must be one line of at most 512 bytes.", key)
        } else if !sources.isEmpty, !sources.contains(where: { $0.matches(source) }) {
            group.report("DefaultSource matches no entry of Sources; add it there.", key)
        }
        return source
    }

    /// Reads the capabilities, and checks that they have their sources.
    private static func capabilities(
        _ group: ManifestGroup, _ sources: [SourcePattern]
    ) -> Set<ProviderInfo.Capability> {
        let key = "Capabilities"
        var capabilities: Set<ProviderInfo.Capability> = []
        let names = group.list(key, isRequired: true)
        for name in names {
            if let capability = ProviderInfo.Capability(rawValue: name),
                [.feed, .like, .profile, .albums, .search, .download].contains(capability)
            {
                capabilities.insert(capability)
            } else {
                group.report(
                    "\(name) is not a capability of a plugin; use feed, like, profile, albums, search and download.",
                    key)
            }
        }
        if !names.isEmpty, !capabilities.contains(.feed) {
            group.report("Capabilities does not contain feed; add it.", key)
        }
        guard !sources.isEmpty else { return capabilities }
        if capabilities.contains(.like), !sources.contains(where: { $0.matches(SourceID("likes")) })
        {
            group.report(
                "Capabilities contains like, but Sources does not contain likes; add it.", key)
        }
        if capabilities.contains(.search),
            !sources.contains(where: { $0.prefix.map { "search:".hasPrefix($0) } ?? false })
        {
            group.report(
                "Capabilities contains search, but Sources does not contain search:*; add it.", key)
        }
        return capabilities
    }
}
