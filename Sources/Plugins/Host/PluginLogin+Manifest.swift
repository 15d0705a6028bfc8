internal import ProviderKit

nonisolated extension PluginLogin {
    /// The keys of the group `Authentication`.
    static let keys: Set = [
        "Type", "Server", "HomeServers", "Header", "Prefix", "TokenHosts", "AuthorizationUrl",
        "TokenUrl",
        "RevocationUrl", "Scopes", "Pkce", "RedirectPort", "Issuer", "Help", "TokenRefusals",
    ]

    /// Parses the group `Authentication`.
    init(_ group: ManifestGroup, _ addresses: ManifestAddresses) throws(ManifestProblem) {
        let needsServer = try group.flag("Server")
        switch try group.required("Type") {
        case "none": self = .open(needsServer: needsServer)
        case "key":
            let header = try group.line("Header", default: "Authorization")
            let prefix = group["Prefix"] ?? (header == "Authorization" ? "Bearer " : "")
            let hosts = try addresses.tokenOrigins(group)
            guard header.utf8.allSatisfy(Self.isNameByte) else {
                throw ManifestProblem("Header is not the name of a header field.", key: "Header")
            }
            guard prefix.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else {
                throw ManifestProblem("Prefix is not printable ASCII.", key: "Prefix")
            }
            guard !HTTPHeaders.reserved.contains(header.lowercased()) else {
                throw ManifestProblem(
                    "Header cannot be \(header), because only the daemon sets this field.",
                    key: "Header")
            }
            guard needsServer != !hosts.isEmpty else {
                throw ManifestProblem(
                    "Type=key requires Server=true or TokenHosts, but not both."
                )
            }
            self = .key(
                field: "\(header): \(prefix)", hosts: hosts, needsServer: needsServer)
        case "oauth2":
            var description = OAuthDescription(
                authorizationURL: try addresses.endpoint(group, "AuthorizationUrl"),
                tokenURL: try addresses.endpoint(group, "TokenUrl"),
                scopes: try group.list("Scopes", required: false),
                tokenOrigins: try addresses.tokenOrigins(group))
            guard !description.tokenOrigins.isEmpty else {
                throw ManifestProblem(
                    "TokenHosts is missing; name the hosts that receive the token.")
            }
            if group["RevocationUrl"] != nil {
                description.revocationURL = try addresses.endpoint(group, "RevocationUrl")
            }
            description.usesPKCE = try group.flag("Pkce")
            description.issuer = group["Issuer"]
            if let port = group["RedirectPort"] {
                guard let number = UInt16(port), number >= 1024 else {
                    throw ManifestProblem(
                        "RedirectPort must be a number from 1024 to 65535.", key: "RedirectPort")
                }
                description.redirectPort = number
            }
            description.tokenRefusals = try Self.refusals(group)
            self = .oauth2(
                description,
                help: ServiceText.message(group["Help"])
                    ?? "Register an application at the service.")
        case "federated":
            self = .federated(
                scopes: Set(try group.list("Scopes", required: true)),
                refusals: try Self.refusals(group))
        case "polling": self = .polling
        case let type:
            throw ManifestProblem(
                "Type must be none, key, oauth2, federated or polling, not “\(type)”.", key: "Type")
        }
    }

    /// Parses the responses that reject a token in addition to 401: a status, and optionally the text in the body or
    /// the path of the requests, which begins with a slash.
    private static func refusals(
        _ group: ManifestGroup
    ) throws(ManifestProblem) -> [TokenRefusal] {
        var refusals = [TokenRefusal(status: 401)]
        for item in try group.list("TokenRefusals", required: false) {
            let words = item.split(separator: " ", maxSplits: 1).map(String.init)
            guard let status = words.first.flatMap({ Int($0) }), 400..<600 ~= status else {
                throw ManifestProblem(
                    "“\(item)” in TokenRefusals must begin with a status from 400 to 599.",
                    key: "TokenRefusals")
            }
            let detail = words.count > 1 ? words[1] : nil
            let isPath = detail?.hasPrefix("/") == true
            let refusal = TokenRefusal(
                status: status, text: isPath ? nil : detail, path: isPath ? detail : nil)
            if !refusals.contains(refusal) { refusals.append(refusal) }
        }
        return refusals
    }

    /// Checks whether the accounts may have home servers.
    ///
    /// - Parameters:
    ///   - areRequested: True if the manifest permits home servers.
    ///   - hasHosts: True if the manifest names hosts.
    /// - Returns: True if home servers are permitted.
    /// - Throws: ``ManifestProblem`` if the plugin cannot have home servers.
    func homeServers(_ areRequested: Bool, hasHosts: Bool) throws(ManifestProblem) -> Bool {
        guard areRequested else { return false }
        switch self {
        case .open(needsServer: true), .key(_, _, needsServer: true), .polling: break
        case .open, .key, .oauth2, .federated:
            throw ManifestProblem(
                "HomeServers requires Server=true and Type=none or Type=key, or Type=polling.")
        }
        guard !hasHosts else {
            throw ManifestProblem(
                "Hosts must be empty with HomeServers=true; requests go only to the server of the account."
            )
        }
        return true
    }

    /// The origins that receive the key or the token according to the manifest.
    var credentialOrigins: [String] {
        switch self {
        case .open, .federated, .polling: []
        case .key(_, let hosts, _): hosts
        case .oauth2(let description, _): description.tokenOrigins
        }
    }

    /// True for the bytes of the names of header fields.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
