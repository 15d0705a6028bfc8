import Engine
import Logging
import ProviderKit
import TestSupport

/// What an engine under test is handed: a clock that stands still, secrets in memory, no network.
@MainActor
final class World {
    let clock = ManualClock()
    let secrets = InMemorySecretStore()
    let settings = FakeSettings()
    let http = ScriptedHTTP()
    let board = FakeNotificationPresenter()
    /// The addresses that the browser was to open.
    let opened = Observed<[String]>()
    let hasBrowser = Observed(true)
    let time = Observed(Timestamp(secondsSince1970: 1_800_000_000))
    let ports: EnginePorts

    init(cache: String) {
        let (time, opened, hasBrowser) = (time, opened, hasBrowser)
        ports = EnginePorts(
            http: http, secrets: secrets, settings: settings, cacheFolder: cache,
            cacheLimitBytes: 1 << 20,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: clock, now: { time.value }, notificationPresenter: board,
            openURL: { address, token in
                guard hasBrowser.value else { throw EngineError.notSupported("No browser.") }
                opened.append("\(address) \(token)")
            })
    }
}

/// Settings that are kept nowhere.
@MainActor
final class FakeSettings: SettingsStore {
    var values: [String: ProviderSettings] = [:]

    func settings(of provider: String) -> ProviderSettings {
        values[provider] ?? ProviderSettings()
    }

    func set(_ value: String, for key: String, of provider: String) async throws {
        values[provider, default: ProviderSettings()][key] = value
    }
}
