/// The time limits of keyring operations.
package struct KeyringLimits: Sendable {
    /// The limit for connecting and reading.
    package var reading = Duration.seconds(5)
    /// The limit for one change. Some keyrings require a confirmation by the user.
    package var writing = Duration.seconds(30)
    /// The limit for a prompt.
    package var prompting = Duration.seconds(120)
    /// The time in which a cancelled call must end before it is abandoned.
    package var cancelling = Duration.seconds(1)

    package init() {}
}
