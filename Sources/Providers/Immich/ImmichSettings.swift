internal import ProviderKit

/// The settings of the provider, validated.
struct ImmichSettings: Hashable, Sendable {
    /// True if photos have the place where they were taken.
    let showsLocation: Bool

    /// - Throws: ``ProviderError/notConfigured(_:)``.
    init(_ settings: ProviderSettings) throws(ProviderError) {
        switch settings["ShowLocation"] {
        case nil, "false": showsLocation = false
        case "true": showsLocation = true
        default:
            throw .notConfigured(
                "ShowLocation of [Provider immich] in imagefeed.conf has to be true or false.")
        }
    }
}
