internal import Configuration
internal import Glibc
internal import ProviderKit

nonisolated extension Manifest {
    /// Of a manifest, in bytes.
    private static let maximumBytes = 64 << 10

    /// Reads a manifest.
    ///
    /// - Parameters:
    ///   - path: Of the file, `…/NAME.provider`.
    ///   - settings: Those of the provider, which say whether hosts and addresses may lie on this computer.
    /// - Throws: ``ManifestProblem``: the first one.
    init(path: String, settings: ProviderSettings) throws(ManifestProblem) {
        var problems = ManifestProblems()
        guard let manifest = Self(path: path, settings: settings, &problems),
            problems.all.isEmpty
        else { throw problems.all.first?.problem ?? ManifestProblem("The file cannot be read.") }
        self = manifest
    }

    /// Reads a manifest, and collects its problems. The result is nil if the file cannot be read as a key file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, `…/NAME.provider`.
    ///   - settings: The settings of the provider.
    ///   - problems: Receives the problems. If there are any, the manifest must not be used.
    init?(path: String, settings: ProviderSettings, _ problems: inout ManifestProblems) {
        let allowsLoopback = settings["AllowLoopback"] == "true"
        let fileName = path.split(separator: "/").last.map(String.init) ?? ""
        let id = String(fileName.dropLast(Self.suffix.count))
        let found: (folder: String, text: String)
        do throws(ManifestProblem) {
            let folder = try Self.resolve(String(path.prefix { $0 != "\0" }), parent: true)
            guard Self.isID(id) else {
                throw ManifestProblem(
                    "The file name is not a valid provider ID: use a lower-case letter, then at most 31 lower-case letters, digits and underscores."
                )
            }
            try Self.checkMode(folder)
            found = (folder, try Self.read(path))
        } catch {
            problems.add(error)
            return nil
        }
        let file = KeyFile(found.text)
        problems.text = found.text
        for line in file.badLines {
            problems.add(
                ManifestProblem("Line \(line.number) cannot be read: \(line.reason)"),
                line: line.number)
        }
        let main = ManifestGroup("Provider", file.groups)
        let login = ManifestGroup("Authentication", file.groups)
        for name in file.groups.keys.sorted() where name != main.name && name != login.name {
            // Other groups are marked as the Desktop Entry Specification says.
            guard name.hasPrefix("X-") else {
                problems.add(
                    ManifestProblem(
                        "[\(name)] is not a group of a manifest; use [Provider] and [Authentication]."
                    ),
                    name)
                continue
            }
        }
        main.expect(
            [
                "Id", "Name", "Icon", "Exec", "Capabilities", "DefaultSource", "Sources", "Hosts",
                "LastingPlaces", "LikedTogether", "SecretSettings",
            ], &problems)
        problems.check("Provider", "Id", ()) { () throws(ManifestProblem) in
            guard try main.required("Id") == id else {
                throw ManifestProblem("Id must be \(id), the file name without .provider.")
            }
        }
        let sources = problems.check("Provider", "Sources", nil) {
            () throws(ManifestProblem) -> [SourcePattern]? in
            try main.list("Sources", required: true).map { SourcePattern($0) }
        }
        let defaultSource = problems.check("Provider", "DefaultSource", SourceID("")) {
            () throws(ManifestProblem) in
            let source = SourceID(try main.required("DefaultSource"))
            guard source.text.utf8.count <= 512, ServiceText.line(source.text) == source.text else {
                throw ManifestProblem("DefaultSource must be one line of at most 512 bytes.")
            }
            guard sources?.contains(where: { $0.matches(source) }) ?? true else {
                throw ManifestProblem("DefaultSource matches no entry of Sources; add it there.")
            }
            return source
        }
        let hosts = problems.check("Provider", "Hosts", (patterns: [], origins: [])) {
            () throws(ManifestProblem) in
            try Self.hosts(main.list("Hosts", required: false), allowsLoopback: allowsLoopback)
        }
        info = PluginInfo(
            id: id,
            name: problems.check("Provider", "Name", "") { () throws(ManifestProblem) in
                try main.line("Name")
            },
            iconName: problems.check("Provider", "Icon", "") { () throws(ManifestProblem) in
                try main.line("Icon", default: "image-x-generic")
            },
            capabilities: problems.check("Provider", "Capabilities", []) {
                () throws(ManifestProblem) in
                try Self.capabilities(main.list("Capabilities", required: true))
            },
            defaultSource: defaultSource)
        for problem in Self.missingSources(of: info.capabilities, in: sources) {
            problems.add(problem, "Provider", "Capabilities")
        }
        let command = problems.check("Provider", "Exec", []) { () throws(ManifestProblem) in
            try Self.command(main.required("Exec"), in: found.folder)
        }
        self.command = command
        self.folder = found.folder
        self.sources = sources ?? []
        login.expect(Self.loginKeys, &problems)
        self.login = problems.check("Authentication", nil, .open(needsServer: false)) {
            () throws(ManifestProblem) in
            try Self.login(login, allowsLoopback: allowsLoopback)
        }
        hasStablePageTokens = problems.check("Provider", "LastingPlaces", false) {
            () throws(ManifestProblem) in try main.flag("LastingPlaces")
        }
        likeGroupEnd = problems.check("Provider", "LikedTogether", nil) {
            () throws(ManifestProblem) -> Character? in try main.character("LikedTogether")
        }
        secretSettings = problems.check("Provider", "SecretSettings", []) {
            () throws(ManifestProblem) in
            Set(try main.list("SecretSettings", required: false))
        }
        loopbackServers = problems.check("Provider", nil, LoopbackServers()) {
            () throws(ManifestProblem) in
            try Self.loopbackServers(allowsLoopback ? settings : ProviderSettings())
        }
        // Where a key or a token goes, the plugin may have asked.
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
        let files = command.filter { $0.hasPrefix("/") }
        stamp = FileStamps([path] + files, folders: [found.folder] + files.map(Self.parent))
    }

    /// The keys of the group Authentication.
    private static let loginKeys: Set = [
        "Type", "Server", "Header", "Prefix", "TokenHosts", "AuthorizationUrl", "TokenUrl",
        "RevocationUrl", "Scopes", "Pkce", "RedirectPort", "Issuer", "Help", "TokenRefusals",
    ]

    static let suffix = ".provider"

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

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    /// Refuses a folder that every user can change, and so replace the files in it.
    private static func checkMode(_ folder: String) throws(ManifestProblem) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw ManifestProblem("\(folder) does not exist.")
        }
        try checkMode(status, folder)
    }

    private static func checkMode(_ status: stat, _ path: String) throws(ManifestProblem) {
        guard status.st_mode & S_IWOTH == 0 else {
            throw ManifestProblem(
                "Every user can change \(path); remove this permission with “chmod o-w”.")
        }
    }

    private static func resolve(_ path: String, parent: Bool) throws(ManifestProblem) -> String {
        let end = parent ? path.lastIndex(of: "/") ?? path.endIndex : path.endIndex
        guard let resolved = realpath(String(path[..<end]), nil) else {
            throw ManifestProblem("\(path) does not exist.")
        }
        defer { free(resolved) }
        return String(cString: resolved)
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
    ///   - sources: The entries of `Sources`; nil if they have a problem of their own.
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

    private static func hosts(
        _ names: [String], allowsLoopback: Bool
    ) throws(ManifestProblem) -> (patterns: [AllowedHosts.Pattern], origins: Set<String>) {
        var patterns: [AllowedHosts.Pattern] = []
        var origins: Set<String> = []
        for name in names {
            if name.contains("://") {
                origins.insert(try address(name, allowsLoopback, "Hosts").origin)
            } else if let pattern = AllowedHosts.Pattern(name) {
                patterns.append(pattern)
            } else {
                throw ManifestProblem(
                    "“\(name)” in Hosts is not a host, such as example.org, *.example.org, example.org:8443 or *."
                )
            }
        }
        return (patterns, origins)
    }

    /// An address on this computer, where it may be one.
    private static func address(
        _ text: String, _ allowsLoopback: Bool, _ key: String
    ) throws(ManifestProblem) -> WebAddress {
        guard let address = WebAddress(text), address.isLoopback else {
            throw ManifestProblem("“\(text)” in \(key) is an address; name only its host.")
        }
        guard allowsLoopback else {
            throw ManifestProblem(
                "“\(text)” in \(key) is on this computer; set AllowLoopback=true for the provider in imagefeed.conf."
            )
        }
        return address
    }

    // MARK: Exec

    /// The program, with its path, and its arguments.
    private static func command(
        _ line: String, in folder: String
    ) throws(ManifestProblem) -> [String] {
        var words = try CommandLineWords.split(line)
        guard let name = words.first else { throw ManifestProblem("Exec is empty.") }
        words[0] = try program(name, in: folder)
        // A script, say: whatever lies in the folder can be named from there.
        for index in words.indices.dropFirst() where words[index].hasPrefix("./") {
            words[index] = try file(folder + words[index].dropFirst(), in: folder)
        }
        return words
    }

    private static func program(
        _ name: String, in folder: String
    ) throws(ManifestProblem) -> String {
        let candidates =
            name.hasPrefix("/")
            ? [name]
            : name.contains("/")
                ? ["\(folder)/\(name)"]
                : ["/usr/local/bin/\(name)", "/usr/bin/\(name)", "/bin/\(name)"]
        guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw ManifestProblem(
                "The program of Exec, \(name), does not exist or is not executable.")
        }
        return try file(path, in: folder)
    }

    /// A file that the plugin can see from within its confinement.
    private static func file(
        _ path: String, in folder: String
    ) throws(ManifestProblem) -> String {
        let resolved = try resolve(path, parent: false)
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ManifestProblem("\(path) of Exec is not a regular file.")
        }
        try checkMode(status, resolved)
        try checkMode(parent(of: resolved))
        let roots = SandboxKind.systemFolders + [folder]
        guard roots.contains(where: { resolved.hasPrefix("\($0)/") }) else {
            throw ManifestProblem(
                "\(path) of Exec must be in /usr, in /opt or in the folder of the manifest.")
        }
        // A program of the system is called by the name it was given: there may be many of one file.
        return resolved.hasPrefix("\(folder)/") ? resolved : path
    }

    // MARK: Authentication

    private static func login(
        _ group: ManifestGroup, allowsLoopback: Bool
    ) throws(ManifestProblem) -> PluginLogin {
        let needsServer = try group.flag("Server")
        switch try group.required("Type") {
        case "none": return .open(needsServer: needsServer)
        case "key":
            let header = try group.line("Header", default: "Authorization")
            let prefix = group["Prefix"] ?? (header == "Authorization" ? "Bearer " : "")
            let hosts = try origins(group, allowsLoopback)
            guard header.utf8.allSatisfy(isOfToken), prefix.utf8.allSatisfy({ 0x20...0x7e ~= $0 })
            else {
                throw ManifestProblem(
                    "Header is not the name of a header field, or Prefix is not printable ASCII.")
            }
            guard !HTTPHeaders.reserved.contains(header.lowercased()) else {
                throw ManifestProblem(
                    "Header cannot be \(header), because only the daemon sets this field.")
            }
            guard needsServer != !hosts.isEmpty else {
                throw ManifestProblem(
                    "Type=key requires Server=true or TokenHosts, but not both."
                )
            }
            return .key(
                field: "\(header): \(prefix)", hosts: hosts, needsServer: needsServer)
        case "oauth2":
            var description = OAuthDescription(
                authorizationURL: try endpoint(group, "AuthorizationUrl", allowsLoopback),
                tokenURL: try endpoint(group, "TokenUrl", allowsLoopback),
                scopes: try group.list("Scopes", required: false),
                tokenOrigins: try origins(group, allowsLoopback))
            guard !description.tokenOrigins.isEmpty else {
                throw ManifestProblem(
                    "TokenHosts is missing; name the hosts that receive the token.")
            }
            if group["RevocationUrl"] != nil {
                description.revocationURL = try endpoint(group, "RevocationUrl", allowsLoopback)
            }
            description.usesPKCE = try group.flag("Pkce")
            description.issuer = group["Issuer"]
            if let port = group["RedirectPort"] {
                guard let number = UInt16(port), number >= 1024 else {
                    throw ManifestProblem("RedirectPort must be a number from 1024 to 65535.")
                }
                description.redirectPort = number
            }
            description.tokenRefusals = try refusals(group)
            return .oauth2(
                description,
                help: ServiceText.message(group["Help"])
                    ?? "Register an application at the service.")
        case "federated":
            return .federated(
                FederationRules(
                    scopes: Set(try group.list("Scopes", required: true)),
                    refusals: try refusals(group)))
        case let type:
            throw ManifestProblem("Type must be none, key, oauth2 or federated, not “\(type)”.")
        }
    }

    /// Reads the answers that refuse a token beside 401: a status, and optionally the text in the body or, after a
    /// slash, the path of the requests.
    private static func refusals(
        _ group: ManifestGroup
    ) throws(ManifestProblem) -> [TokenRefusal] {
        var refusals = [TokenRefusal(status: 401)]
        for item in try group.list("TokenRefusals", required: false) {
            let words = item.split(separator: " ", maxSplits: 1).map(String.init)
            guard let status = words.first.flatMap({ Int($0) }), 400..<600 ~= status else {
                throw ManifestProblem(
                    "“\(item)” in TokenRefusals must begin with a status from 400 to 599.")
            }
            let detail = words.count > 1 ? words[1] : nil
            let isPath = detail?.hasPrefix("/") == true
            let refusal = TokenRefusal(
                status: status, text: isPath ? nil : detail, path: isPath ? detail : nil)
            if !refusals.contains(refusal) { refusals.append(refusal) }
        }
        return refusals
    }

    private static func loopbackServers(
        _ settings: ProviderSettings
    ) throws(ManifestProblem) -> LoopbackServers {
        guard let servers = LoopbackServers(settings["LoopbackServers"] ?? "") else {
            throw ManifestProblem("LoopbackServers in the configuration \(LoopbackServers.rule)")
        }
        return servers
    }

    private static func origins(
        _ group: ManifestGroup, _ allowsLoopback: Bool
    ) throws(ManifestProblem) -> [String] {
        var origins: [String] = []
        for name in try group.list("TokenHosts", required: false) {
            if name.contains("://") {
                origins.append(try address(name, allowsLoopback, "TokenHosts").origin)
            } else if !name.contains("*"), AllowedHosts.Pattern(name) != nil,
                let address = WebAddress("https://\(name)")
            {
                origins.append(address.origin)
            } else {
                throw ManifestProblem(
                    "“\(name)” in TokenHosts is not a host, such as api.example.org.")
            }
        }
        return origins
    }

    private static func endpoint(
        _ group: ManifestGroup, _ key: String, _ allowsLoopback: Bool
    ) throws(ManifestProblem) -> String {
        let text = try group.required(key)
        guard let address = WebAddress(text), address.scheme == .https || address.isLoopback else {
            throw ManifestProblem("\(key) must be an address that begins with https://.")
        }
        if address.isLoopback { _ = try self.address(text, allowsLoopback, key) }
        return address.text
    }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

nonisolated extension PluginLogin {
    /// The origins that see a key or a token, as far as the manifest says.
    var credentialOrigins: [String] {
        switch self {
        case .open, .federated: []
        case .key(_, let hosts, _): hosts
        case .oauth2(let description, _): description.tokenOrigins
        }
    }
}
