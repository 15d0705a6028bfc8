public import ProviderKit
internal import System

/// Serves a provider as a plugin: reads calls from standard input, answers on standard output. Does not return.
///
/// The whole of a plugin's `main.swift`:
///
/// ```swift
/// import PluginRuntime
///
/// PluginRuntime.run(MyProvider())
/// ```
///
/// The provider runs on the main thread, as it does inside the daemon: tasks that belong to no actor, too. What
/// computes for long has a queue or a thread of its own. Its HTTP client asks the daemon, which adds
/// the credentials; its logger writes to the daemon's log.
///
/// Source: `imagefeed-providers(7)`.
@MainActor
public func run(_ provider: some Provider) -> Never {
    MainLoop.use()
    let server = PluginServer(provider)
    server.start()
    withExtendedLifetime(server) { MainLoop.run() }
}
