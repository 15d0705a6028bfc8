import MastodonSimulator
import Testing

/// The providers that are tested, each with a world of its own.
///
/// Every test is about all of those that offer what it is about. Why one is left out stands at the list.
enum TestedProvider: String, CaseIterable, CustomTestStringConvertible {
    case local
    case unsplash
    case mastodon
    case pixelfed
    // The other dialects of the same API.
    case closedMastodon = "closed mastodon"
    case goToSocial = "gotosocial"
    case friendica
    case akkoma
    case snac
    case takahe
    case iceshrimp
    case sharkey
    // The same providers, each as a program of its own. Not the local one: it lives on files, and a plugin has none.
    case unsplashPlugin = "unsplash, a plugin"
    case mastodonPlugin = "mastodon, a plugin"
    case pixelfedPlugin = "pixelfed, a plugin"
    // The examples, as users install them.
    case rss
    case immich

    var testDescription: String { rawValue }

    /// Those whose photos can be liked. A feed has nobody to tell of a like.
    static let withLikes = allCases.filter { $0 != .rss }

    /// Those at a service of the network, which can be away, want to be left alone, or answer nonsense.
    ///
    /// Not the local one: its photos are on the disk, where nothing is asked, waited for or limited. What a
    /// folder that is gone or a disk that is full does, `LocalProviderTests` tell.
    static let ofNetwork = allCases.filter { $0 != .local }

    /// Those of the network whose photos can be liked: only such likes have to wait.
    static let ofNetworkWithLikes = ofNetwork.filter(withLikes.contains)

    /// Those whose services get into trouble. Not Pixelfed as a plugin: what a trouble does on its way through a plugin
    /// is the same for both dialects of that provider, and each case costs a second of everybody's time.
    /// Nor the other dialects: they differ in logins and refusals, not in troubles.
    static let withTroubles = ofNetwork.filter { $0 != .pixelfedPlugin && !dialects.contains($0) }

    /// The dialects of Mastodon's API beside Mastodon and Pixelfed, which have cases of their own.
    static let dialects: [TestedProvider] = [
        .closedMastodon, .goToSocial, .friendica, .akkoma, .snac, .takahe, .iceshrimp, .sharkey,
    ]

    /// Those whose photos can be liked all the same.
    static let withTroublesAndLikes = withTroubles.filter(withLikes.contains)

    /// One inside the daemon, and a plugin in each language: for what takes long, and depends on no more than that.
    static let oneOfAKind: [TestedProvider] = [.unsplash, .unsplashPlugin, .rss]

    /// Those whose accounts have a secret, which the service may refuse, and a keyring may keep to itself. A feed
    /// lies open.
    static let withSecret = ofNetwork.filter { $0 != .rss }

    /// Those that are logged in to with a key, without a browser.
    static let withKey: [TestedProvider] = [.immich]

    /// Those that are logged in to in the browser, by OAuth.
    static let withBrowser = withSecret.filter { !withKey.contains($0) }

    @MainActor func world() async throws -> any ProviderWorld {
        switch self {
        case .local: try await LocalWorld()
        case .unsplash: try await UnsplashWorld()
        case .mastodon: try await MastodonWorld(.mastodon)
        case .pixelfed: try await MastodonWorld(.pixelfed)
        case .closedMastodon: try await MastodonWorld(.closedMastodon)
        case .goToSocial: try await MastodonWorld(.goToSocial)
        case .friendica: try await MastodonWorld(.friendica)
        case .akkoma: try await MastodonWorld(.akkoma)
        case .snac: try await MastodonWorld(.snac)
        case .takahe: try await MastodonWorld(.takahe)
        case .iceshrimp: try await MastodonWorld(.iceshrimp)
        case .sharkey: try await MastodonWorld(.sharkey)
        case .unsplashPlugin: try await UnsplashWorld(place: .plugin)
        case .mastodonPlugin: try await MastodonWorld(.mastodon, place: .plugin)
        case .pixelfedPlugin: try await MastodonWorld(.pixelfed, place: .plugin)
        case .rss: try await FeedWorld()
        case .immich: try await ImmichWorld()
        }
    }

    @MainActor func serviceWorld() async throws -> any ServiceWorld {
        try #require(try await world() as? any ServiceWorld)
    }

    @MainActor func secretWorld() async throws -> any SecretWorld {
        try #require(try await world() as? any SecretWorld)
    }

    @MainActor func browserWorld() async throws -> any BrowserWorld {
        try #require(try await world() as? any BrowserWorld)
    }
}
