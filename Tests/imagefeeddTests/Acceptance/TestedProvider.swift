import MastodonSimulator
import Testing

/// The providers under test.
///
/// Every test runs with all providers that have the tested feature. The lists below state the reasons for exceptions.
enum TestedProvider: String, CaseIterable, CustomTestStringConvertible {
    case local, daily, immich, nextcloud, unsplash, mastodon, pixelfed
    // The other dialects of the same API.
    case closedMastodon = "closed mastodon"
    case goToSocial = "gotosocial"
    case friendica, akkoma, snac, takahe, iceshrimp, sharkey
    // The same providers as plugins. The local provider cannot be a plugin, because plugins have no access to files.
    case dailyPlugin = "daily, a plugin"
    case immichPlugin = "immich, a plugin"
    case nextcloudPlugin = "nextcloud, a plugin"
    case unsplashPlugin = "unsplash, a plugin"
    case mastodonPlugin = "mastodon, a plugin"
    case pixelfedPlugin = "pixelfed, a plugin"
    // The installed example.
    case rss

    var testDescription: String { rawValue }

    /// The providers with likes. A feed has no likes, and a plugin cannot have local ones.
    static let withLikes = allCases.filter { ![.rss, .dailyPlugin].contains($0) }

    /// The providers with several accounts. Wikimedia Commons is used without a user.
    static let withUsers = allCases.filter { ![.daily, .dailyPlugin].contains($0) }

    /// The remote providers, whose services can be unavailable, limit requests or send invalid responses.
    ///
    /// `LocalProviderTests` test the faults of the local provider, such as a missing folder or a full disk.
    static let remote = allCases.filter { $0 != .local }

    /// The remote providers with likes, which may be queued. The likes of `daily` are never sent.
    static let remoteWithLikes = remote.filter { withLikes.contains($0) && $0 != .daily }

    /// The remote providers that are tested with faults. Pixelfed as a plugin is omitted: faults have the same effect
    /// for both dialects of that plugin, and each case takes a second. The other dialects are omitted because they
    /// differ only in logins and refusals.
    static let withFaults = remote.filter { $0 != .pixelfedPlugin && !dialects.contains($0) }

    /// The dialects of Mastodon's API except Mastodon and Pixelfed.
    static let dialects: [TestedProvider] = [
        .closedMastodon, .goToSocial, .friendica, .akkoma, .snac, .takahe, .iceshrimp, .sharkey,
    ]

    /// The providers with faults and likes.
    static let withFaultsAndLikes = withFaults.filter(remoteWithLikes.contains)

    /// One built-in provider and one plugin per language, for long tests that do not depend on the service.
    static let onePerLanguage: [TestedProvider] = [.unsplash, .unsplashPlugin, .rss]

    /// The providers whose accounts have a secret in the keyring. Feeds and Wikimedia Commons are public.
    static let withSecret = remote.filter { ![.rss, .daily, .dailyPlugin].contains($0) }

    /// One provider for each kind of secret: two with tokens, of which one is a plugin, a key, and a password.
    static let onePerSecret: [TestedProvider] = [.unsplash, .mastodonPlugin, .immich, .nextcloud]

    /// The providers with a login by a key, without a browser.
    static let withKey: [TestedProvider] = [.immich, .immichPlugin]

    /// The providers with a browser login that ends without a redirect. `NextcloudTests` test it.
    static let withPolling: [TestedProvider] = [.nextcloud, .nextcloudPlugin]

    /// The providers with a browser login that ends with a redirect.
    static let withBrowser = withSecret.filter {
        !withKey.contains($0) && !withPolling.contains($0)
    }

    /// The providers with such a login, without the dialects that differ only in successful logins and refusals.
    static let withBrowserAndFaults = withBrowser.filter { !dialects.contains($0) }

    @MainActor func fixture() async throws -> any ProviderFixture {
        switch self {
        case .local: try await LocalFixture()
        case .daily: try await DailyFixture()
        case .immich: try await ImmichFixture()
        case .nextcloud: try await NextcloudFixture()
        case .unsplash: try await UnsplashFixture()
        case .dailyPlugin: try await DailyFixture(place: .plugin)
        case .immichPlugin: try await ImmichFixture(place: .plugin)
        case .nextcloudPlugin: try await NextcloudFixture(place: .plugin)
        case .unsplashPlugin: try await UnsplashFixture(place: .plugin)
        case .mastodonPlugin: try await MastodonFixture(.mastodon, place: .plugin)
        case .pixelfedPlugin: try await MastodonFixture(.pixelfed, place: .plugin)
        case .rss: try await FeedFixture()
        // The other cases have the names of the simulated software.
        default:
            try await MastodonFixture(#require(Software.all.first { $0.name == rawValue }))
        }
    }

    @MainActor func serviceFixture() async throws -> any ServiceFixture {
        try #require(try await fixture() as? any ServiceFixture)
    }

    @MainActor func secretFixture() async throws -> any SecretFixture {
        try #require(try await fixture() as? any SecretFixture)
    }

    @MainActor func browserFixture() async throws -> any BrowserFixture {
        try #require(try await fixture() as? any BrowserFixture)
    }
}
