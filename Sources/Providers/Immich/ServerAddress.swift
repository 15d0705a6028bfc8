internal import ProviderKit
internal import Quoting

/// The address of a server that a user entered.
///
/// The address may be in any network, and begin with `http://`, because the user entered it.
struct ServerAddress: Hashable, Sendable {
    /// The origin, `https://host[:port]` or `http://host[:port]`.
    let origin: String

    /// The name of the server in ``AccountIdentity/server``: the host and the port, or the whole origin for `http`. Equal
    /// for equal origins.
    var name: String {
        origin.hasPrefix(Self.https) ? String(origin.dropFirst(Self.https.count)) : origin
    }

    /// The host and the port, for messages.
    var host: String {
        String(origin[(origin.firstRange(of: "://")?.upperBound ?? origin.startIndex)...])
    }

    private static let https = "https://"

    /// Parses a host, optionally with a port, or the address of any page of the server. Without a scheme, the server is
    /// requested over `https`.
    ///
    /// - Parameter text: The text that the user entered.
    /// - Throws: ``ProviderError/invalidArgument(_:)`` with a message for the user.
    init(_ text: String) throws(ProviderError) {
        let shown = ServiceText.line(text) ?? ""
        guard let address = WebAddress(shown.contains("://") ? shown : Self.https + shown) else {
            throw .invalidArgument(
                "\(shown.withoutUserInformation.quoted) is not the address of a server, such as photos.example.org or http://192.168.1.2:2283."
            )
        }
        origin = address.origin
    }
}
