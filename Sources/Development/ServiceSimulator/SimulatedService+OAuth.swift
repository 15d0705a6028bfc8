/// The state of a simulated service with OAuth.
package protocol SimulatedOAuthState: SimulatedState {
    var tokens: TokenStore { get set }
    /// The time of the service.
    var now: Moment { get }
    /// The seconds by which the clock of the service is ahead of the system clock.
    var secondsAhead: Int { get set }
}

extension SimulatedService where State: SimulatedOAuthState {
    /// Returns true for a valid access token.
    package func isValid(_ accessToken: String) -> Bool {
        simulator.withState { $0.tokens.grant(accessToken, now: $0.now) != nil }
    }

    /// Revokes the tokens of a user, as the user does on the website.
    package func revokeTokens(of username: String) {
        simulator.withState { $0.tokens.revokeAll(of: username) }
    }

    /// Advances the clock of the service: codes and tokens expire, and rate limits are reset.
    package func advanceClock(seconds: Int) {
        simulator.withState { $0.secondsAhead += seconds }
    }
}
