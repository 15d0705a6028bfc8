internal import EngineModel
package import Logging
internal import OAuth
package import ProviderKit
internal import System
internal import Translation

/// The external dependencies of the engine.
package struct EnginePorts {
    let http: any HTTPClient
    let secrets: any SecretStore
    let settings: any SettingsStore
    /// The folder for cached photos of remote accounts. It may be deleted at any time.
    let cacheFolder: String
    /// The size limit of the image cache.
    let cacheLimitBytes: Int
    let logger: Logger
    package var clock: any Clock<Duration> = MainLoopClock()
    package var now: () -> Timestamp = { .now }
    /// The service that shows notifications; nil if none are shown.
    package var notificationPresenter: (any NotificationPresenter)?
    /// Opens an address in the user's browser. The activation token permits the browser to take the focus.
    package var openURL: (_ address: String, _ activationToken: String) async throws -> Void = {
        _, _ in
        throw EngineError.notSupported(
            Message("No browser is available; open the address of the login yourself."))
    }

    package init(
        http: any HTTPClient, secrets: any SecretStore, settings: any SettingsStore,
        cacheFolder: String, cacheLimitBytes: Int, logger: Logger
    ) {
        self.http = http
        self.secrets = secrets
        self.settings = settings
        self.cacheFolder = cacheFolder
        self.cacheLimitBytes = cacheLimitBytes
        self.logger = logger
    }
}

extension EnginePorts {
    /// Returns the ports for requests with a token or a key; nil for requests without credentials.
    func session(
        _ token: OAuthToken?, _ access: KeyDescription, _ settings: ProviderSettings
    ) -> SessionPorts {
        SessionPorts(
            http: AuthorizedClient(http, token ?? OAuthToken.none(now: now()), access),
            settings: settings, logger: logger)
    }

    /// Returns the ports for requests without credentials.
    func anonymousSession(_ access: KeyDescription, _ settings: ProviderSettings) -> SessionPorts {
        session(nil, access.anonymous, settings)
    }
}

/// The settings of providers, except for secrets.
package protocol SettingsStore: AnyObject {
    func settings(of provider: String) -> ProviderSettings

    /// Stores a setting and applies it.
    ///
    /// - Throws: An error with a text for the user.
    func set(_ value: String, for key: String, of provider: String) async throws
}
