package import JSONFormat
package import ProviderKit
internal import Translation

// The coding of login descriptions.

extension DiscoveredServer {
    /// The maximum number of scopes, and of fields of a registration.
    private static let maximumNumber = 32

    /// The description as JSON.
    package var json: JSON {
        let registration: JSON? = oauth.registration.map {
            [
                "url": .string($0.url), "fields": .object($0.fields.mapValues { .string($0) }),
                "redirect_field": .string($0.redirectField), "one_login": .bool($0.isForOneLogin),
            ]
        }
        return [
            "name": .string(name), "authorization_url": .string(oauth.authorizationURL),
            "token_url": .string(oauth.tokenURL),
            "scopes": .array(oauth.scopes.map { .string($0) }), "pkce": .bool(oauth.usesPKCE),
            "shows_code": .bool(oauth.showsCode), "revocation_url": JSON(oauth.revocationURL),
            "issuer": JSON(oauth.issuer), "redirect_port": JSON(oauth.redirectPort.map { Int($0) }),
            "registration": registration ?? .null,
        ]
    }

    /// Decodes the description that a plugin returned. The origins that receive the token, and the responses that
    /// reject it, are not taken from the plugin.
    package init(_ reader: PluginReader) throws(PluginFault) {
        try reader.expectObject()
        guard let name = try? ServerName(reader.name("name")) else {
            throw PluginFault("\(reader.path).name is not the name of a server")
        }
        let scopes = try reader.elements("scopes", atMost: Self.maximumNumber).map {
            (element) throws(PluginFault) in
            guard let scope = element.value.string else {
                throw PluginFault("\(element.path) is not a string")
            }
            return scope
        }
        var oauth = OAuthDescription(
            authorizationURL: try reader.address("authorization_url"),
            tokenURL: try reader.address("token_url"), scopes: scopes, tokenOrigins: [])
        if reader.value["revocation_url"] != nil {
            oauth.revocationURL = try reader.address("revocation_url")
        }
        oauth.usesPKCE = try reader.flag("pkce") ?? false
        oauth.showsCode = try reader.flag("shows_code") ?? false
        oauth.issuer = try reader.bounded("issuer")
        if let number = try reader.integer("redirect_port") {
            guard let port = UInt16(exactly: number), port > 0 else {
                throw PluginFault("\(reader.path).redirect_port is not a port from 1 to 65535")
            }
            oauth.redirectPort = port
        }
        oauth.registration = try Self.registration(reader.object("registration"))
        self.init(name: name.text, oauth: oauth)
    }

    private static func registration(
        _ reader: PluginReader
    ) throws(PluginFault) -> ClientRegistration {
        let given = try reader.object("fields")
        let names = given.value.members.map(\.name)
        guard names.count <= maximumNumber else {
            throw PluginFault("\(given.path) has more than \(maximumNumber) members")
        }
        let redirectField = try reader.name("redirect_field")
        var fields: [String: String] = [:]
        // Only the daemon sets the redirect address.
        for key in names where key != redirectField {
            fields[key] = try given.bounded(key) ?? ""
        }
        var registration = ClientRegistration(
            url: try reader.address("url"), fields: fields, redirectField: redirectField)
        registration.isForOneLogin = try reader.flag("one_login") ?? false
        return registration
    }
}

extension PollingDescription {
    /// The description as JSON.
    package var json: JSON {
        [
            "name": .string(server), "start_url": .string(startURL),
            "revocation": revocation?.json ?? .null,
        ]
    }

    /// Decodes the description that a plugin returned. The origins of the addresses are not checked.
    package init(_ reader: PluginReader) throws(PluginFault) {
        try reader.expectObject()
        self.init(
            server: try reader.name("name"),
            startURL: try reader.address("start_url", mayBeHTTP: true))
        guard reader.value["revocation"] != nil else { return }
        let revocation = try reader.object("revocation")
        _ = try revocation.address("url", mayBeHTTP: true)
        let request = try HTTPRequest(revocation)
        guard request.headers.fields.allSatisfy(\.isAllowedInRequest) else {
            throw PluginFault("\(revocation.path).headers contains a reserved field")
        }
        self.revocation = request
    }
}

extension PluginReader {
    /// Returns an address that may be requested.
    fileprivate func address(_ key: String, mayBeHTTP: Bool = false) throws(PluginFault) -> String {
        guard let address = WebAddress(try requiredText(key)), mayBeHTTP || address.isSafe else {
            throw PluginFault("\(path).\(key) is not an https address")
        }
        return address.text
    }
}

// The coding of the states of sessions.

extension RateLimit {
    package var json: JSON {
        [
            "remaining": .integer(Int64(remaining)), "limit": .integer(Int64(limit)),
            "reset": JSON(reset),
        ]
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        self.init(
            remaining: try reader.required("remaining", reader.count),
            limit: try reader.required("limit", reader.count),
            reset: try reader.validTime("reset"))
    }
}

extension SessionStatus {
    package var json: JSON {
        switch self {
        case .ready: ["state": "ready"]
        case .loading(let reason): ["state": "loading", "reason": .string(reason.english)]
        case .failed(let reason, _): ["state": "failed", "reason": .string(reason.english)]
        }
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        let reason = Message(verbatim: try reader.message("reason") ?? "The plugin gave no reason.")
        switch try reader.requiredText("state") {
        case "ready": self = .ready
        case "loading": self = .loading(reason: reason)
        case "failed": self = .failed(reason: reason)
        default: throw PluginFault("\(reader.path).state is not ready, loading or failed")
        }
    }
}
