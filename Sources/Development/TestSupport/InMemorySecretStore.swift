package import ProviderKit

/// A secret store in memory, with failures on demand.
package final class InMemorySecretStore: SecretStore {
    package struct State: Sendable {
        /// The stored secrets, as bytes for comparison.
        package var secrets: [SecretKey: [UInt8]] = [:]
        package var labels: [SecretKey: String] = [:]
        /// The error of every call; nil for none.
        package var error: SecretStoreError?
        /// True if the store must be unlocked first.
        package var isLocked = false
        /// True if a prompt unlocks the store; false if it is dismissed.
        package var unlocksOnPrompt = true
        /// The number of prompts.
        package var prompts = 0
        /// The keys whose secrets are locked although the store is unlocked.
        package var lockedKeys: Set<SecretKey> = []
        /// True if prompts stay open.
        package var holdsPrompts = false
        /// The number of open prompts.
        package var waitingPrompts = 0
        /// The keys that were read, in order.
        package var lookUps: [SecretKey] = []
        /// True if reads do not end.
        package var holdsLookUps = false
        /// True if the caller requested to keep the connection.
        package var isConnectionKept = false

        fileprivate func checkAccess(_ key: SecretKey) throws {
            if isLocked([key]) { throw SecretStoreError.locked("The secret is locked.") }
        }

        fileprivate func isLocked(_ keys: [SecretKey]) -> Bool {
            keys.contains { lockedKeys.contains($0) && secrets[$0] != nil }
        }
    }

    package let state: Observed<State>

    package init(_ state: State = State()) { self.state = Observed(state) }

    package func store(_ secret: Secret, for key: SecretKey, label: String) async throws {
        try change { state in
            try state.checkAccess(key)
            state.secrets[key] = secret.withBytes { Array($0) }
            state.labels[key] = label
        }
    }

    package func lookUp(_ key: SecretKey) async throws -> Secret? {
        if state.value.holdsLookUps { try await state.wait { $0.holdsLookUps ? nil : true } }
        return try change { state in
            state.lookUps.append(key)
            try state.checkAccess(key)
            return state.secrets[key].map { Secret($0) }
        }
    }

    package func delete(_ key: SecretKey) async throws {
        try change { state in
            state.secrets[key] = nil
            state.labels[key] = nil
        }
    }

    package func unlock(_ keys: [SecretKey], isForStoring: Bool) async throws {
        let isHeld =
            state.value.holdsPrompts && (state.value.isLocked || state.value.isLocked(keys))
        if isHeld {
            state.update { $0.waitingPrompts += 1 }
            await waitForPrompt()
            try Task.checkCancellation()
        }
        try changeUnlessFailing { state in
            guard state.isLocked || state.isLocked(keys) else { return }
            state.prompts += 1
            guard state.unlocksOnPrompt else { throw SecretStoreError.dismissed("Dismissed.") }
            state.isLocked = false
            state.lockedKeys.subtract(keys)
        }
    }

    package func keepConnection(_ isNeeded: Bool) {
        state.update { $0.isConnectionKept = isNeeded }
    }

    /// Waits until prompts are no longer held or the task is cancelled.
    private func waitForPrompt() async {
        _ = try? await state.wait { $0.holdsPrompts ? nil : true }
        state.update { $0.waitingPrompts -= 1 }
    }

    /// Runs `body` unless the store is locked or fails.
    @discardableResult
    private func change<Value: Sendable>(_ body: (inout State) throws -> Value) throws -> Value {
        try changeUnlessFailing { state in
            if state.isLocked { throw SecretStoreError.locked("Locked.") }
            return try body(&state)
        }
    }

    @discardableResult
    private func changeUnlessFailing<Value: Sendable>(
        _ body: (inout State) throws -> Value
    ) throws -> Value {
        var result: Result<Value, any Error>?
        state.update { state in
            result = Result {
                if let error = state.error { throw error }
                return try body(&state)
            }
        }
        // `update` calls its closure synchronously.
        guard let result else { throw SecretStoreError.failed("Nothing was done.") }
        return try result.get()
    }
}
