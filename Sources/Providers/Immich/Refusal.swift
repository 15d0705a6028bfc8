internal import ProviderKit
internal import Quoting
internal import WebService

extension Refusal {
    /// Returns the error; nil for a success.
    ///
    /// - Parameter permission: The permission that an API key needs for the request; nil if every key has it.
    /// - Returns: The error.
    func error(_ permission: String?) -> ProviderError? {
        // The API sends no HTML. Another server sent the page, such as a proxy or the login page of a network.
        if response.isHTML, response.status < 500 || response.isOtherLogin { return page }
        return switch response.status {
        case 200..<300: nil
        case 401 where message == Self.disabledPasswords:
            .notSupported(
                service.tr("{service} does not accept passwords; log in with an API key."))
        // Source: immich at 0653cd9 (version 3), `GlobalExceptionFilter`: newer versions have no other member.
        case 401: message == nil ? otherLogin : .unauthorized
        case 403: forbiddenError(permission)
        case 429: .rateLimited(until: retryTime)
        case 400, 404, 410, 422: rejectionError(permission)
        case 500...: serviceFailure
        default: unexpectedStatus
        }
    }

    /// The message for a login with a password that the administrator has switched off.
    ///
    /// Source: immich at 00c5bf5 (version 3), `login` of `server/src/services/auth.service.ts`.
    private static let disabledPasswords = "Password login has been disabled"

    /// The error for a request without a permission. Only API keys have permissions: a session of a user has all.
    private func forbiddenError(_ permission: String?) -> ProviderError {
        if let missing = missingPermission(permission) {
            return .denied(
                service.tr(
                    "The API key for {service} lacks the permission {permission}; edit the key in the account settings of the server.",
                    ["permission": missing]))
        }
        // Any other reason of the server concerns only this photo.
        if case .like = subject {
            guard message != nil else { return otherLogin }
            return refusedLike(quoted)
        }
        guard let permission else {
            return .denied(service.tr("{service} does not allow the request."))
        }
        return .denied(
            service.tr(
                "{service} does not allow the request, which needs the permission {permission}.",
                ["permission": permission]))
    }

    /// Returns the permission that the message names.
    private func missingPermission(_ permission: String?) -> String? {
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
    private func rejectionError(_ permission: String?) -> ProviderError {
        switch subject {
        case .like(let id) where response.status == 400 && permission != nil:
            .notFound(
                service.tr(
                    "There is no photo {photo} at {service}, or the account lacks the permission {permission} for it.",
                    ["photo": id.text.quoted, "permission": permission ?? ""]))
        case .photo(let id), .like(let id):
            service.missing(id)
        case .source(let id):
            switch ImmichSource(id)?.kind {
            case .search where message?.contains("not enabled") == true:
                .notSupported(service.tr("Searching by content is disabled at {service}."))
            case .album, .person, nil: service.missing(id)
            case .all, .likes, .memories, .search: rejected
            }
        case .user where response.status == 400 && permission == nil:
            .invalidArgument("\(service.name) rejected the request\(quoted).")
        case .user, .other: rejected
        }
    }

    private var rejected: ProviderError {
        .failed(
            service.tr(
                "{service} rejected the request{details}; check the address of the server.",
                ["details": quoted]))
    }

    private var quoted: String { ServiceText.parenthesized(message) }

    /// The text of the error document. Validation errors have several.
    private var message: String? {
        let record = response.record
        return record?.text("message") ?? record?.value("message", as: [String].self)?.first
    }
}
