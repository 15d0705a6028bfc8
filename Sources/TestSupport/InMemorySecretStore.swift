package import ProviderKit

/// A secret store that forgets everything, and does as badly as it is told.
package final class InMemorySecretStore: SecretStore {
    package struct State: Sendable {
        /// What is stored, as bytes, to compare it.
        package var secrets: [SecretKey: [UInt8]] = [:]
        package var labels: [SecretKey: String] = [:]
        /// What every call fails with; nil for none.
        package var error: SecretStoreError?
        /// Whether it has to be unlocked first.
        package var isLocked = false
        /// Whether somebody sits there who unlocks it when asked.
        package var unlocksWhenAsked = true
        /// How often somebody was asked.
        package var prompts = 0
    }

    package let state: Observed<State>

    package init(_ state: State = State()) { self.state = Observed(state) }

    package func store(_ secret: Secret, for key: SecretKey, label: String) async throws {
        try change { state in
            state.secrets[key] = secret.withBytes { Array($0) }
            state.labels[key] = label
        }
    }

    package func lookUp(_ key: SecretKey, unlocking: Bool) async throws -> Secret? {
        if unlocking, state.value.secrets[key] != nil { try await unlock() }
        return try change { state in state.secrets[key].map { Secret($0) } }
    }

    package func delete(_ key: SecretKey) async throws {
        try change { state in
            state.secrets[key] = nil
            state.labels[key] = nil
        }
    }

    package func unlock() async throws {
        try changeAnyway { state in
            guard state.isLocked else { return }
            state.prompts += 1
            guard state.unlocksWhenAsked else { throw SecretStoreError.dismissed("Dismissed.") }
            state.isLocked = false
        }
    }

    /// Does `body`, unless the store is locked or fails.
    @discardableResult
    private func change<Value: Sendable>(_ body: (inout State) throws -> Value) throws -> Value {
        try changeAnyway { state in
            if state.isLocked { throw SecretStoreError.locked("Locked.") }
            return try body(&state)
        }
    }

    @discardableResult
    private func changeAnyway<Value: Sendable>(
        _ body: (inout State) throws -> Value
    ) throws -> Value {
        var result: Result<Value, any Error>?
        state.update { state in
            result = Result {
                if let error = state.error { throw error }
                return try body(&state)
            }
        }
        // `update` has called it.
        guard let result else { throw SecretStoreError.failed("Nothing was done.") }
        return try result.get()
    }
}
