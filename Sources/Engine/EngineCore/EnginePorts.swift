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
    /// Returns the settings of a provider, except for secrets.
    let settings: (_ provider: String) -> ProviderSettings
    /// Stores the client ID in the settings of a provider, and applies it. Throws an error with a text for the user.
    let setClientID: (_ id: String, _ provider: String) async throws -> Void
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
        http: any HTTPClient, secrets: any SecretStore,
        settings: @escaping (String) -> ProviderSettings,
        setClientID: @escaping (String, String) async throws -> Void,
        cacheFolder: String, cacheLimitBytes: Int, logger: Logger
    ) {
        self.http = http
        self.secrets = secrets
        self.settings = settings
        self.setClientID = setClientID
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
