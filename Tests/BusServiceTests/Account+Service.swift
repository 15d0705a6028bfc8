@testable import Engine

extension Account {
    /// The photos of an account at a service.
    @MainActor var remote: RemoteService? { photos as? RemoteService }
}
