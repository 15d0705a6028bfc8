internal import FoundationEssentials
internal import ProviderKit
internal import Quoting

/// A translation of a response with an error status, or of an HTML page, to a ``ProviderError``.
struct Refusal {
    let response: HTTPResponse
    let subject: APICall.Subject
    /// The permission that an API key needs for the request; nil if every key has it.
    let permission: String?
    /// The server for messages.
    let server: String
    let now: Timestamp

    /// The error; nil for a success.
    var error: ProviderError? {
        // The API sends no HTML. Another server sent the page, such as a proxy or the login page of a network.
        if response.isHTML, response.status < 500 { return invalidResponse("an HTML page") }
        return switch response.status {
        case 200..<300: nil
        case 401 where message == Self.disabledPasswords:
            .notSupported("\(server) does not accept passwords; log in with an API key.")
        case 401: .unauthorized
        case 403: forbiddenError
        case 429:
            .rateLimited(
                until: response.retryAfter(now: now).map { now + min($0, .seconds(86_400)) })
        case 400, 404, 410, 422: rejectionError
        case 500...: .failed("\(server) failed with status \(response.status); try again later.")
        default: invalidResponse("status \(response.status)")
        }
    }

    /// The message for a login with a password that the administrator has switched off.
    ///
    /// Source: immich at 00c5bf5 (version 3), `login` of `server/src/services/auth.service.ts`.
    private static let disabledPasswords = "Password login has been disabled"

    private func invalidResponse(_ reason: String) -> ProviderError {
        Self.invalidResponse(reason, server)
    }

    static func invalidResponse(_ reason: String, _ server: String) -> ProviderError {
        .failed(
            "\(server) sent an invalid response (\(reason)); check the address of the server, or try again later."
        )
    }

    /// The error for a request without a permission. Only API keys have permissions: a session of a user has all.
    private var forbiddenError: ProviderError {
        if let missing = missingPermission {
            return .denied(
                "The API key for \(server) lacks the permission \(missing); edit the key in the account settings of the server."
            )
        }
        guard let permission else { return .denied("\(server) does not allow the request.") }
        return .denied(
            "\(server) does not allow the request, which needs the permission \(permission).")
    }

    /// The permission that the message names.
    private var missingPermission: String? {
        let start = "Missing required permission: "
        guard let message, message.hasPrefix(start) else { return nil }
        let name = message.dropFirst(start.count)
        let isName =
            1...64 ~= name.utf8.count
            && name.utf8.allSatisfy { 0x61...0x7a ~= $0 | 0x20 || $0 == UInt8(ascii: ".") }
        return isName ? String(name) : permission
    }

    /// The error for status 400 or 404. The API sends 400 both for an item that does not exist and for an item that the
    /// user may not read.
    private var rejectionError: ProviderError {
        switch subject {
        case .photo(let id), .like(let id):
            .notFound("There is no photo \(id.text.quoted) at \(server).")
        case .source(let id):
            switch ImmichSource(id) {
            case .search where message?.contains("not enabled") == true:
                .notSupported("Searching by content is disabled at \(server).")
            case .album, .person, nil:
                .notFound("There is no source \(id.text.quoted) at \(server).")
            case .all, .likes, .memories, .search: rejected
            }
        case .user where response.status == 400 && permission == nil:
            .invalidArgument("\(server) rejected the request\(quoted).")
        case .user, .albums, .people, .server: rejected
        }
    }

    private var rejected: ProviderError {
        .failed("\(server) rejected the request\(quoted); check the address of the server.")
    }

    private var quoted: String { ServiceText.parenthesized(message) }

    private var message: String? {
        (try? JSONDecoder().decode(Message.self, from: Data(response.body)))?.text
    }

    /// The error document. Validation errors have several messages.
    private struct Message: Decodable {
        let text: String?

        private enum Key: String, CodingKey {
            case message
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            text = values.lenient(.message) ?? values.lenient(.message, as: [String].self)?.first
        }
    }
}
