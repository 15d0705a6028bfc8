internal import Translation
internal import Web

/// A request to one server: the original request, or a redirect of it.
struct Hop {
    private(set) var address: ParsedAddress
    /// The parts of the request that are sent to this server, and the source of ``address``.
    var request: HTTPRequest

    /// Returns the redirect of a response; nil if the response is final.
    ///
    /// The body, the header fields and the token of a request are sent only to its own origin, and no longer after a
    /// redirect to another one. A GET follows redirects to any origin, a POST within its origin.
    ///
    /// - Parameters:
    ///   - head: The header of the response.
    ///   - source: The source of the address of the original request.
    ///   - origin: The origin of the original request.
    /// - Returns: The next request.
    /// - Throws: ``HTTPError/forbiddenAddress(_:)``, ``HTTPError/failed(_:)``.
    ///
    /// Source: RFC 9110 §15.4.
    func next(
        after head: ResponseHead, from source: HTTPRequest.AddressSource,
        to origin: ParsedAddress.Origin
    ) throws(HTTPError) -> Hop? {
        guard [301, 302, 303, 307, 308].contains(head.status),
            request.method == .get || request.method == .post,
            let location = head.headers["Location"]
        else { return nil }
        let target: ParsedAddress
        do {
            target = try ParsedAddress(location, relativeTo: address)
        } catch .invalidAddress(let reason) {
            throw .forbiddenAddress(
                Message(
                    "the redirect of {server} is invalid: {reason}",
                    messages: [
                        "server": Message(verbatim: address.origin.host), "reason": reason,
                    ]))
        } catch {
            throw error
        }
        let staysHome = target.origin == address.origin
        guard request.method == .get || staysHome else { return nil }
        guard target.origin.scheme == .https || address.origin.scheme == .http else {
            throw .forbiddenAddress(
                Message(
                    "the redirect of {server} leads from https to http",
                    ["server": address.origin.host]))
        }
        // The caller reads the address to which the user's server redirects, and tells the user.
        if request.addressSource == .configuration, request.plugin == nil,
            request.allowedHosts?.permits(target.text) == false
        {
            return nil
        }
        let repeats = request.method == .get || head.status >= 307
        var next = self
        next.address = target
        next.request.headers.removeAll { name, _ in
            let isHarmless = name == "accept" || name == "accept-language"
            let tellsOfBody = name.hasPrefix("content-")
            return staysHome ? !repeats && tellsOfBody : !isHarmless
        }
        next.request.addressSource = target.origin == origin ? source : .service
        if !staysHome { next.request.token = nil }
        if !repeats { next.request.method = .get }
        if !repeats || !staysHome { next.request.body = [] }
        return next
    }

    /// Rejects a literal IP address that is not permitted, before any name is resolved.
    ///
    /// - Throws: ``HTTPError/invalidAddress(_:)``, ``HTTPError/forbiddenAddress(_:)``.
    func check(_ reach: AddressScope) throws(HTTPError) {
        guard let literal = address.literal else { return }
        guard reach.permits(literal, address.origin.scheme, isResolved: false) else {
            throw refusal(literal)
        }
    }

    /// Rejects a name of the local network if a proxy would resolve it, because the resolved address cannot be checked.
    ///
    /// - Throws: ``HTTPError/forbiddenAddress(_:)``.
    func checkProxied(_ reach: AddressScope) throws(HTTPError) {
        guard reach != .anywhere, reach != .named, address.isLocalName else { return }
        throw .forbiddenAddress(
            Message("{server} is a name of the local network", ["server": address.origin.host]))
    }

    /// Returns the error for a connection to an address that is not permitted.
    func refusal(_ address: IPAddress) -> HTTPError {
        let host = self.address.origin.host
        if self.address.origin.scheme == .http && !address.isLoopback
            && request.addressSource == .configuration
        {
            return .invalidAddress(
                Message(
                    "http is permitted only on this computer, and {server} is another one; use https",
                    ["server": host]))
        }
        return .forbiddenAddress(
            Message("{server} is not on the public internet", ["server": host]))
    }
}
