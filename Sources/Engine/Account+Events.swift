internal import Logging
internal import ProviderKit

// The events of the service.
extension Account {
    /// True if only requests of clients may use the network.
    var savesData: Bool { engine.isMetered }

    /// Handles an event of the session, and passes it on.
    func emit(_ event: AccountEvent) {
        engine.emit(event, of: self)
        switch event {
        case .changed(.state): feedWatch.update()
        // The number of likes and the pending likes changed as well.
        case .likeConfirmed: engine.emit(.changed(.likes), of: self)
        default: break
        }
    }

    /// Called when the service limits requests until a time.
    func rateLimited(until: Timestamp?) {
        for account in engine.accounts(sharingLimitsOf: self) where account !== self {
            account.photos?.limit(until: until)
        }
    }

    func profileKnown(_ profile: Profile) { show(profile, .ready) }

    /// Called when the service reported the user of the token.
    func identityReported(_ profile: Profile) {
        // Without an ID, a new name is no proof of a rename.
        guard
            let userID = AccountIdentity(username: profile.username, userID: profile.userID).userID,
            identity.userID == nil || identity.userID == userID
        else { return }
        let reported = AccountIdentity(
            username: profile.username, server: identity.server, userID: userID)
        guard reported != identity else { return }
        Task { [engine] in
            do {
                try await engine.accounts.update(self) { $0.update(reported) }
            } catch {
                // The next response reports the identity again.
                engine.ports.logger.notice(
                    "The user ID cannot be stored", metadata: ["error": "\(error)"])
            }
        }
    }
}
