@testable import Engine
@testable import Services

extension Account {
    /// The photos of an account at a service.
    @MainActor var remote: RemoteService? { photos as? RemoteService }
}
