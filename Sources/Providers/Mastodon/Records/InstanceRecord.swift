internal import ProviderKit

/// The instance document, which describes a server.
struct InstanceRecord: Decodable {
    let version: String

    private enum Key: String, CodingKey {
        case version, title, uri, domain
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        version = try values.decode(String.self, forKey: .version)
        // Documents of other services may also have a version.
        let name: String? = values.lenient(.domain) ?? values.lenient(.uri)
        guard name?.isEmpty == false, values.lenient(.title, as: String.self) != nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .title, in: values, debugDescription: "not an instance document")
        }
    }
}

/// The authorization server metadata of a server.
///
/// Source: RFC 8414 §2; docs.joinmastodon.org/methods/oauth for `app_registration_endpoint`.
struct AuthorizationServerRecord: Decodable {
    let issuer: String?
    let authorization: String?
    let token: String?
    let revocation: String?
    let registration: String?
    let scopes: [String]?
    let challengeMethods: [String]?

    private enum Key: String, CodingKey {
        case issuer
        case authorization = "authorization_endpoint"
        case token = "token_endpoint"
        case revocation = "revocation_endpoint"
        case registration = "app_registration_endpoint"
        case scopes = "scopes_supported"
        case challengeMethods = "code_challenge_methods_supported"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        issuer = values.lenient(.issuer)
        authorization = values.lenient(.authorization)
        token = values.lenient(.token)
        revocation = values.lenient(.revocation)
        registration = values.lenient(.registration)
        scopes = values.lenient(.scopes)
        challengeMethods = values.lenient(.challengeMethods)
    }
}

/// The error document of the API.
struct ErrorRecord: Decodable {
    let error: String
}

/// The list of NodeInfo documents of a server.
///
/// Source: nodeinfo.diaspora.software, protocol 2.1.
struct NodeInfoLinks: Decodable {
    /// The address of the newest document in a known format.
    let address: WebAddress?

    private struct Link: Decodable {
        let rel: String
        let href: String
    }

    private enum Key: String, CodingKey {
        case links
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let links = try values.decode(LenientList<Link>.self, forKey: .links).elements
        let known = links.filter { $0.rel.contains("nodeinfo.diaspora.software/ns/schema/") }
        address = known.max { $0.rel < $1.rel }.flatMap { WebAddress($0.href) }
    }
}

/// The software of a server, as NodeInfo states it.
struct NodeInfoRecord: Decodable {
    let software: String

    private enum Key: String, CodingKey {
        case software, name
    }

    init(from decoder: any Decoder) throws {
        software = try decoder.container(keyedBy: Key.self)
            .nestedContainer(keyedBy: Key.self, forKey: .software)
            .decode(String.self, forKey: .name)
    }
}
