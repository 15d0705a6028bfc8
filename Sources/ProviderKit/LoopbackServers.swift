/// The servers on this computer that have names, for development and tests.
///
/// Only the configuration can define such a server. Its address must be on loopback.
package struct LoopbackServers: Hashable, Sendable {
    private var addresses: [String: WebAddress] = [:]

    /// The rule for the value of the configuration key. It follows the name of the key in a message.
    package static let rule =
        "must be a list of servers on this computer, such as photos.test=http://127.0.0.1:3000."

    /// Creates an empty set.
    package init() {}

    /// Parses `name=http://127.0.0.1:3000;…`; nil if the text violates the ``rule``.
    package init?(_ text: String) {
        for entry in text.split(separator: ";") {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let name = try? ServerName(String(parts[0])),
                let address = WebAddress(String(parts[1])), address.isLoopback,
                address.rest.isEmpty
            else { return nil }
            addresses[name.text] = address
        }
    }

    /// The address of a server; nil if the name is not defined.
    package subscript(name: String) -> WebAddress? { addresses[name] }

    /// Returns the name of the server with an origin; nil if there is none.
    package func name(of origin: String) -> String? {
        addresses.first { $0.value.origin == origin }?.key
    }
}
