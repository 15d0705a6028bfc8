public import ProviderKit
internal import System

/// Runs a provider as a plugin: reads calls from standard input and writes replies to standard output. Does not return.
///
/// The `main.swift` of a plugin:
///
/// ```swift
/// import PluginRuntime
///
/// PluginRuntime.run(MyProvider())
/// ```
///
/// The provider runs on the main thread, as it does in the daemon; this includes tasks without an actor. A long
/// computation needs a queue or a thread of its own. The HTTP client sends requests through the daemon, which adds the
/// credentials. The logger writes to the log of the daemon. The process exits when the daemon closes standard input.
///
/// - Parameter provider: Conforms to `KeyLogin`, `OAuthLogin`, `FederatedLogin` or `PollingLogin`; its sessions
///   conform to `RemoteFeed`.
///
/// Source: `imagefeed-providers(7)`.
@MainActor
public func run(_ provider: some Provider) -> Never {
    MainLoop.use()
    let server = PluginServer(provider)
    server.start()
    withExtendedLifetime(server) { MainLoop.run() }
}
