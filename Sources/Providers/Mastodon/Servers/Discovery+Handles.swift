internal import ProviderKit
internal import WebService

// Handles whose domain is not the domain of the server.
extension Discovery {
    /// The number of other servers that a domain may name.
    private static let maximumCandidates = 2

    /// Finds the servers that a domain names for its handles.
    ///
    /// - Parameters:
    ///   - domain: The domain of the handle.
    ///   - user: The user of the handle, if it is known.
    /// - Returns: The names of other servers, the likeliest first.
    /// - Throws: `CancellationError`. A domain that does not respond names no server.
    ///
    /// Source: RFC 7033 (WebFinger), RFC 6415 (host-meta); docs.joinmastodon.org/spec/webfinger.
    func handleServers(of domain: String, user: String?) async throws -> [String] {
        let base = try settings.base(domain)
        let resource = "acct:\(user ?? domain)@\(domain)"
        let documents = [
            (
                URLEncoding.adding(
                    [("resource", resource)], to: "\(base.text)/.well-known/webfinger"),
                "application/jrd+json, application/json"
            ),
            ("\(base.text)/.well-known/host-meta", "application/xrd+xml, application/xml"),
        ]
        var servers: [String] = []
        for (url, accept) in documents {
            let response: HTTPResponse
            do {
                response = try await get(url, .configuration, accept: accept)
            } catch is HTTPError {
                continue
            }
            // The redirect target is the most reliable name of the server, even if the user is unknown there.
            let named = [settings.server(at: response.url)] + names(in: response)
            for case let name? in named where name != domain && !servers.contains(name) {
                servers.append(name)
            }
        }
        return Array(servers.prefix(Self.maximumCandidates))
    }

    /// Returns the servers that a document of WebFinger or host-meta names.
    private func names(in response: HTTPResponse) -> [String?] {
        guard response.status == 200 else { return [] }
        if let links = response.record?.records("links") {
            // Source: RFC 7033 §4.4.
            let actors = links.filter { link in
                link.text("rel") == "self"
                    && ["application/activity+json", "application/ld+json"].contains {
                        link.text("type")?.hasPrefix($0) == true
                    }
            }
            let pages = links.filter {
                $0.text("rel") == "http://webfinger.net/rel/profile-page"
            }
            return (actors + pages).compactMap { $0.text("href") }.map(settings.serverName)
        }
        var names: [String?] = []
        var tokens = HTMLTokens(response.body)
        while let token = tokens.next() {
            guard case .start(let tag) = token, tag.name == "link", tag["rel"] == "lrdd",
                let template = tag["template"]
            else { continue }
            // The resource is a variable in the query: `{uri}`.
            names.append(settings.serverName(String(template.prefix { $0 != "?" && $0 != "{" })))
        }
        return names
    }
}
