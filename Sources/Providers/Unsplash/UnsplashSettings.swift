internal import ProviderKit

/// The settings of the provider, validated.
struct UnsplashSettings: Hashable, Sendable {
    /// The address of the API, without a trailing slash.
    let api: WebAddress
    /// The address of the login pages, without a trailing slash.
    let web: WebAddress
    /// The port of the redirect address.
    let redirectPort: UInt16

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        api = try Self.address("ApiUrl", settings, default: "https://api.unsplash.com")
        web = try Self.address("WebUrl", settings, default: "https://unsplash.com")
        let port = settings["RedirectPort"] ?? "43117"
        guard port.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let port = UInt16(port), port > 0 else {
            throw .invalidSetting(
                "RedirectPort", of: "unsplash", "has to be a number from 1 to 65535, such as 43117."
            )
        }
        redirectPort = port
    }

    private static func address(
        _ key: String, _ settings: ProviderSettings, default: String
    ) throws(ProviderError) -> WebAddress {
        var text = settings[key] ?? `default`
        while text.hasSuffix("/") { text.removeLast() }
        guard let address = WebAddress(text), !address.rest.contains(where: { "?#".contains($0) })
        else {
            throw .invalidSetting(
                key, of: "unsplash", "is not the address of a service, such as \(`default`).")
        }
        guard address.isSafe else {
            throw .invalidSetting(
                key, of: "unsplash",
                "has to begin with https://; http:// is only for this computer.")
        }
        return address
    }
}
