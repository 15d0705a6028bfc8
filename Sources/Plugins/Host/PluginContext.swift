internal import Logging
internal import Translation

/// The environment that all plugins share.
struct PluginContext {
    let limits: PluginLimits
    let confiner: SandboxLauncher
    let logger: Logger
    /// Called with the ID, the name and the reason when a plugin is disabled.
    let onDisabled: (_ id: String, _ name: String, _ reason: Message) -> Void
}
