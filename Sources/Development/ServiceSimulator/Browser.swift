package import LoopbackHTTP

/// The redirect at the end of a login in the browser.
package struct Redirect: Sendable {
    /// The redirect address, with a code and state or with an error.
    package let address: String
    /// The response of the address; nil if the address was not requested, as for the scheme of another program.
    package let response: LoopbackClient.Response?

    /// A parameter of the address: `code`, `state`, `error`.
    package subscript(name: String) -> String? {
        FormFields(address.drop { $0 != "?" }.dropFirst())[name]
    }
}

/// The error for an authorization page that does not redirect.
package struct NotRedirected: Error {
    package let status: Int
    package let page: String
}

/// The actions of a user during a browser login.
extension SimulatedService {
    /// Opens an authorization page, approves, and follows the redirect unless `followingRedirect` is false.
    ///
    /// - Throws: ``NotRedirected`` if the page is an error; ``LoopbackHTTP/SystemError``.
    @discardableResult
    package func approve(
        _ authorizationURL: String, as username: String, followingRedirect: Bool = true
    ) async throws -> Redirect {
        try await decide(authorizationURL, "approve", username, follows: followingRedirect)
    }

    /// Opens an authorization page, denies, and follows the redirect.
    ///
    /// - Throws: ``NotRedirected`` if the page is an error, as it is without a redirect address;
    ///   ``LoopbackHTTP/SystemError``.
    @discardableResult
    package func deny(_ authorizationURL: String, as username: String) async throws -> Redirect {
        try await decide(authorizationURL, "deny", username)
    }

    private func decide(
        _ url: String, _ decision: String, _ username: String, follows: Bool = true
    ) async throws -> Redirect {
        let page = try await LoopbackClient.send("GET", url)
        if let location = page["Location"] { return try await follow(location, follows) }
        guard page.status == 200 else {
            throw NotRedirected(status: page.status, page: page.text)
        }
        // The form of the page sends the parameters of the page and the decision to the same address.
        let parts = url.split(separator: "?", maxSplits: 1)
        let form =
            (parts.count > 1 ? parts[1] + "&" : "")
            + FormFields.encode([("username", username), ("decision", decision)])
        let response = try await LoopbackClient.send(
            "POST", String(parts[0]),
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8))
        guard let location = response["Location"] else {
            throw NotRedirected(status: response.status, page: response.text)
        }
        return try await follow(location, follows)
    }

    private func follow(_ location: String, _ follows: Bool) async throws -> Redirect {
        let isLoopback =
            follows
            && ["http://127.0.0.1:", "http://localhost:"].contains {
                location.hasPrefix($0)
            }
        return Redirect(
            address: location,
            response: isLoopback ? try await LoopbackClient.send("GET", location) : nil)
    }
}
