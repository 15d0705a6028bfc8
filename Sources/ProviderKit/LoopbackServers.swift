/// Servers that lie on this computer, by the names they go by: for who develops, and for tests.
///
/// Nobody but who writes the configuration can name such a server, and it leads to this computer alone.
package struct LoopbackServers: Hashable, Sendable {
    private var addresses: [String: WebAddress] = [:]

    /// What keeps a configuration from being read: for a person, after the name of the key.
    package static let rule =
        "has to be a list of servers on this computer, such as photos.test=http://127.0.0.1:3000."

    package init() {}

    /// Reads `name=http://127.0.0.1:3000;…`; nil for what breaks the ``rule``.
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

    /// Where a server is that lies here.
    package subscript(name: String) -> WebAddress? { addresses[name] }

    /// What a server here goes by.
    package func name(of origin: String) -> String? {
        addresses.first { $0.value.origin == origin }?.key
    }
}
