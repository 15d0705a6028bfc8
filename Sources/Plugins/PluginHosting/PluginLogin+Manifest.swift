internal import ProviderKit

nonisolated extension PluginLogin {
    /// The keys of the group `Authentication`.
    static let keys: Set = [
        "Type", "Server", "HomeServers", "Header", "Prefix", "TokenHosts", "AuthorizationUrl",
        "TokenUrl", "RevocationUrl", "Scopes", "Pkce", "RedirectPort", "Issuer", "Help",
        "TokenRefusals",
    ]

    /// Parses the group `Authentication`. The result is nil if the type is missing or unknown.
    init?(_ group: ManifestGroup) {
        let needsServer = group.flag("Server")
        switch group.required("Type") {
        case "none":
            self = .key(KeyDescription(keyField: nil, keyOrigins: [], needsServer: needsServer))
        case "key": self = Self.key(group, needsServer: needsServer)
        case "oauth2":
            self = .oauth2(
                Self.description(group),
                help: ServiceText.message(group["Help"]) ?? "")
        case "federated":
            self = .federated(
                scopes: Set(group.list("Scopes", isRequired: true)),
                refusals: Self.refusals(group))
        case "polling": self = .polling
        case let type?:
            group.report(
                "Type must be none, key, oauth2, federated or polling, not “\(type)”.", "Type")
            return nil
        case nil: return nil
        }
    }

    private static func key(_ group: ManifestGroup, needsServer: Bool) -> PluginLogin {
        let header = group.line("Header", default: "Authorization")
        let prefix = group["Prefix"] ?? (header == "Authorization" ? "Bearer " : "")
        let hosts = group.tokenOrigins()
        if !header.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) {
            group.report("Header is not the name of a header field.", "Header")
        }
        if !prefix.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) {
            group.report("Prefix is not printable ASCII.", "Prefix")
        }
        if HTTPHeaders.reserved.contains(header.lowercased()) {
            group.report(
                "Header cannot be \(header), because only the daemon sets this field.", "Header")
        }
        if needsServer != group.list("TokenHosts").isEmpty {
            group.report("Type=key requires Server=true or TokenHosts, but not both.")
        }
        return .key(
            KeyDescription(
                keyField: "\(header): \(prefix)", keyOrigins: hosts, needsServer: needsServer))
    }

    private static func description(_ group: ManifestGroup) -> OAuthDescription {
        var description = OAuthDescription(
            authorizationURL: group.endpoint("AuthorizationUrl"),
            tokenURL: group.endpoint("TokenUrl"), scopes: group.list("Scopes"),
            tokenOrigins: group.tokenOrigins())
        if group.list("TokenHosts").isEmpty {
            group.report("TokenHosts is missing; name the hosts that receive the token.")
        }
        if group["RevocationUrl"] != nil {
            description.revocationURL = group.endpoint("RevocationUrl")
        }
        description.usesPKCE = group.flag("Pkce")
        description.issuer = group["Issuer"]
        if let text = group["RedirectPort"] {
            description.redirectPort = UInt16(text)
            if description.redirectPort ?? 0 < 1024 {
                group.report("RedirectPort must be a number from 1024 to 65535.", "RedirectPort")
            }
        }
        description.tokenRefusals = refusals(group)
        return description
    }

    /// Parses the responses that reject a token in addition to 401: a status, and optionally the text in the body or
    /// the path of the requests, which begins with a slash.
    private static func refusals(_ group: ManifestGroup) -> [TokenRefusal] {
        var refusals = [TokenRefusal(status: 401)]
        for item in group.list("TokenRefusals") {
            let words = item.split(separator: " ", maxSplits: 1).map(String.init)
            guard let status = words.first.flatMap({ Int($0) }), 400..<600 ~= status else {
                group.report(
                    "“\(item)” in TokenRefusals must begin with a status from 400 to 599.",
                    "TokenRefusals")
                continue
            }
            let detail = words.count > 1 ? words[1] : nil
            let isPath = detail?.hasPrefix("/") == true
            let refusal = TokenRefusal(
                status: status, text: isPath ? nil : detail, path: isPath ? detail : nil)
            if !refusals.contains(refusal) { refusals.append(refusal) }
        }
        return refusals
    }

    /// Reports a login or hosts that exclude home servers.
    func checkHomeServers(_ group: ManifestGroup, hasHosts: Bool) {
        switch self {
        case .key where needsServer, .polling: break
        default:
            group.report(
                "HomeServers requires Server=true and Type=none or Type=key, or Type=polling.",
                "HomeServers")
        }
        if hasHosts {
            group.report(
                "Hosts must be empty with HomeServers=true; requests go only to the server of the account.",
                "HomeServers")
        }
    }

    /// The origins that receive the key or the token according to the manifest.
    var credentialOrigins: [String] {
        switch self {
        case .federated, .polling: []
        case .key(let description): description.keyOrigins
        case .oauth2(let description, _): description.tokenOrigins
        }
    }
}
