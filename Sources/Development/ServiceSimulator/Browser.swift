package import LoopbackHTTP

/// Where a login has led the browser.
package struct Redirect: Sendable {
    /// The redirect address, with code and state or an error.
    package let address: String
    /// What the address answered; nil where it is not one of this machine's, but of a scheme that
    /// another program handles.
    package let answer: LoopbackClient.Answer?

    /// A parameter of the address: `code`, `state`, `error`.
    package subscript(name: String) -> String? {
        FormFields(address.drop { $0 != "?" }.dropFirst())[name]
    }
}

package struct NotRedirected: Error {
    package let status: Int
    package let page: String
}

/// What a user does in a browser, to log in.
extension SimulatedService {
    /// Opens the page of an authorization, approves, and follows the redirect, unless nobody is there.
    ///
    /// - Throws: ``NotRedirected`` when the page is an error; ``LoopbackHTTP/SystemError``.
    @discardableResult
    package func approve(
        _ authorizationURL: String, as username: String, followingRedirect: Bool = true
    ) async throws -> Redirect {
        try await decide(authorizationURL, "approve", username, follows: followingRedirect)
    }

    /// Opens the page of an authorization, denies, and follows the redirect.
    ///
    /// - Throws: ``NotRedirected`` when the page is an error, as it is without a redirect address;
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
        // What the page's form sends to where it came from: the fields that it was opened with, and the
        // decision.
        let parts = url.split(separator: "?", maxSplits: 1)
        let form =
            (parts.count > 1 ? parts[1] + "&" : "")
            + FormFields.encode([("username", username), ("decision", decision)])
        let answer = try await LoopbackClient.send(
            "POST", String(parts[0]),
            headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8))
        guard let location = answer["Location"] else {
            throw NotRedirected(status: answer.status, page: answer.text)
        }
        return try await follow(location, follows)
    }

    private func follow(_ location: String, _ follows: Bool) async throws -> Redirect {
        let isHere =
            follows
            && ["http://127.0.0.1:", "http://localhost:"].contains {
                location.hasPrefix($0)
            }
        return Redirect(
            address: location,
            answer: isHere ? try await LoopbackClient.send("GET", location) : nil)
    }
}
