internal import ProviderKit

/// The settings of the provider, validated.
struct DailySettings: Hashable, Sendable {
    /// The address of the API.
    let api: WebAddress

    private static let standardAddress = "https://commons.wikimedia.org/w/api.php"

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        guard let address = WebAddress(settings["ApiUrl"] ?? Self.standardAddress),
            !address.rest.contains(where: { "?#".contains($0) })
        else {
            throw .invalidSetting(
                "ApiUrl", of: "daily",
                "is not the address of an API, such as \(Self.standardAddress)."
            )
        }
        guard address.isSafe else {
            throw .invalidSetting(
                "ApiUrl", of: "daily",
                "has to begin with https://; http:// is only for this computer."
            )
        }
        api = address
    }
}
