internal import ProviderKit

/// The settings of the provider, validated.
struct NextcloudSettings: Hashable, Sendable {
    /// True if photos have the place where they were taken.
    let showsLocation: Bool

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        switch settings["ShowLocation"] {
        case nil, "false": showsLocation = false
        case "true": showsLocation = true
        default:
            throw .notConfigured(
                "ShowLocation of [Provider nextcloud] in imagefeed.conf has to be true or false.")
        }
    }
}
