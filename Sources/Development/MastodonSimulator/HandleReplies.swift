internal import ServiceSimulator

/// The documents that name the server of a handle.
///
/// Source: RFC 7033, RFC 6415; docs.joinmastodon.org/admin/config for `WEB_DOMAIN`.
extension ServerState {
    /// Returns the reply to a request at the domain of the handles.
    func handleReply(_ request: RecordedRequest) -> Reply {
        let nothing = Reply(404, html: "<!DOCTYPE html><h1>Not found</h1>")
        let isWebFinger = request.path == "/.well-known/webfinger"
        let isHostMeta = request.path == "/.well-known/host-meta"
        return switch settings.handles {
        case .webFinger where isWebFinger: webFinger(request, server: name)
        case .localNetwork where isWebFinger: webFinger(request, server: "10.0.0.1")
        case .webFingerRedirect where isWebFinger: .redirect(301, to: origin + request.target)
        case .hostMeta where isHostMeta: hostMeta
        case .hostMetaRedirect where isHostMeta: .redirect(301, to: origin + request.target)
        case .loop where isWebFinger || isHostMeta: .redirect(301, to: request.target)
        default: nothing
        }
    }

    /// Returns the reply to a WebFinger query for a user.
    ///
    /// - Parameters:
    ///   - request: The query.
    ///   - server: The host in the addresses of the reply.
    /// - Returns: The document of the user, or 404 for an unknown user.
    func webFinger(_ request: RecordedRequest, server: String) -> Reply {
        let resource = request.query["resource"] ?? ""
        let parts = resource.drop { $0 != ":" }.dropFirst().split(separator: "@").map(String.init)
        guard resource.hasPrefix("acct:"), parts.count == 2, users[parts[0]] != nil,
            [name, settings.handleDomain].contains(parts[1])
        else { return Reply(404) }
        let user = parts[0]
        let document: JSON = [
            "subject": "acct:\(user)@\(settings.handleDomain)",
            "links": [
                [
                    "rel": "http://webfinger.net/rel/profile-page", "type": "text/html",
                    "href": "https://\(server)/@\(user)",
                ],
                [
                    "rel": "self", "type": "application/activity+json",
                    "href": "https://\(server)/users/\(user)",
                ],
            ],
        ]
        return Reply(
            200, headers: [("Content-Type", "application/jrd+json; charset=utf-8")],
            body: Array(document.text.utf8))
    }

    private var hostMeta: Reply {
        let document = """
            <?xml version="1.0" encoding="UTF-8"?>
            <XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">
              <Link rel="lrdd" template="https://\(name)/.well-known/webfinger?resource={uri}"/>
            </XRD>

            """
        return Reply(
            200, headers: [("Content-Type", "application/xrd+xml; charset=utf-8")],
            body: Array(document.utf8))
    }
}
