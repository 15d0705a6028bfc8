internal import ProviderKit

/// What a server says of itself.
struct InstanceRecord: Decodable {
    let version: String

    private enum Key: String, CodingKey {
        case version, title, uri, domain
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        version = try values.decode(String.self, forKey: .version)
        // Other services have documents with a version, too.
        let name: String? = values.lenient(.domain) ?? values.lenient(.uri)
        guard name?.isEmpty == false, values.lenient(.title, as: String.self) != nil else {
            throw DecodingError.dataCorruptedError(
                forKey: .title, in: values, debugDescription: "not of this kind")
        }
    }
}

/// Where a server lets its users in, by its own words.
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
