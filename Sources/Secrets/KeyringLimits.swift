/// How long a keyring may take.
package struct KeyringLimits: Sendable {
    /// To connect and to read.
    package var reading = Duration.seconds(5)
    /// For one change. Some keyrings ask their user whether they shall obey.
    package var writing = Duration.seconds(30)
    /// For a user to answer.
    package var prompting = Duration.seconds(120)
    /// To confirm that a call is called off, before it is left to itself.
    package var cancelling = Duration.seconds(1)

    package init() {}
}
