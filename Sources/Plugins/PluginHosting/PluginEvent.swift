/// An event in the run of a plugin, for the test of the plugin.
nonisolated package enum PluginEvent: Sendable {
    /// The process was started.
    case started
    /// A message to the plugin, with the line feed at its end.
    case sent([UInt8])
    /// A line from the plugin, which may be an invalid message.
    case received([UInt8])
    /// A line of the standard error of the plugin.
    case errorLine(String)
    /// The result of a call is not valid: the call fails, and the plugin continues.
    case invalidResult(reason: String)
    /// The daemon ended the plugin, or the plugin ended by itself.
    case failed(PluginFailure)
    /// The process has ended.
    case ended
}

/// A receiver of the events of a plugin.
package typealias PluginObserver = @MainActor (PluginEvent) -> Void

/// A failure that ended a plugin.
nonisolated package struct PluginFailure: Sendable {
    package enum Kind: Sendable {
        /// The plugin sent an invalid message, or ended by itself.
        case violation
        /// The plugin exceeded a limit other than the time of a call.
        case limit
        /// The plugin did not answer a call in time.
        case timeout
    }

    package let kind: Kind
    package let reason: String
}
