/// Replies of Doorkeeper, an OAuth server that several services use.
///
/// Source: Doorkeeper 5.8, recorded responses.
extension Reply {
    /// The header fields of token responses and their errors (RFC 6749 §5.1).
    package static let noStore = [
        (name: "Cache-Control", value: "no-store"), (name: "Pragma", value: "no-cache"),
    ]

    /// Returns an error of an OAuth endpoint.
    package static func oauthError(
        _ status: Int, _ error: String, _ description: String
    ) -> Reply {
        Reply(
            status, json: ["error": .string(error), "error_description": .string(description)],
            headers: noStore)
    }

    package static let invalidClientText =
        "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."

    package static var invalidClient: Reply {
        oauthError(401, "invalid_client", invalidClientText)
    }

    package static var invalidGrant: Reply {
        oauthError(
            400, "invalid_grant",
            "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
        )
    }

    package static var unsupportedGrantType: Reply {
        oauthError(
            400, "unsupported_grant_type",
            "The authorization grant type is not supported by the authorization server.")
    }

    /// The refusal to revoke a token of another client.
    package static var unauthorizedRevocation: Reply {
        oauthError(403, "unauthorized_client", "You are not authorized to revoke this token")
    }
}
