import EngineCore
import EngineModel
import Logging
import OAuth
import ProviderKit
import TestSupport

/// The external dependencies of an engine under test: a manual clock, secrets in memory and no network.
@MainActor
final class FakePorts {
    let clock = ManualClock()
    let secrets = InMemorySecretStore()
    let settings = FakeSettings()
    let http = ScriptedHTTP()
    let presenter = FakeNotificationPresenter()
    /// The addresses that were passed to the browser, each with its activation token.
    let opened = Observed<[String]>()
    let hasBrowser = Observed(true)
    let time = Observed(Timestamp(secondsSince1970: 1_800_000_000))
    let enginePorts: EnginePorts

    init(cache: String) {
        let (time, opened, hasBrowser) = (time, opened, hasBrowser)
        var ports = EnginePorts(
            http: http, secrets: secrets, settings: settings.settings(of:),
            setClientID: settings.setClientID, cacheFolder: cache,
            cacheLimitBytes: 1 << 20,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        ports.clock = clock
        ports.now = { time.value }
        ports.notificationPresenter = presenter
        ports.openURL = { address, token in
            guard hasBrowser.value else { throw EngineError.notSupported("No browser.") }
            opened.append("\(address) \(token)")
        }
        enginePorts = ports
    }

    /// Returns a token that does not expire.
    func token(_ text: String) -> OAuthToken {
        OAuthToken(
            accessToken: Secret(text), refreshToken: nil, scopes: [], obtained: time.value,
            expires: nil)
    }
}

/// Settings in memory.
@MainActor
final class FakeSettings {
    var values: [String: ProviderSettings] = [:]

    func settings(of provider: String) -> ProviderSettings {
        values[provider] ?? ProviderSettings()
    }

    func setClientID(_ id: String, of provider: String) async throws {
        values[provider, default: ProviderSettings()]["ClientId"] = id
    }
}
