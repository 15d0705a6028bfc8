/// Runs one probe of a service at a time, and shares the result among the accounts that use the service.
final class HostProbes {
    /// A host, as one provider reaches it.
    ///
    /// Probes are not shared between providers: a plugin may name any host, and its result says nothing about the host.
    struct Target: Hashable {
        let provider: String
        /// The origin, or the ID of an account that has no host of its own.
        let host: String
    }

    private var running: [Target: Task<ServiceHealth.Verdict, Never>] = [:]

    /// Probes a host after the probes in progress, unless one of them finds the host unreachable.
    ///
    /// - Parameters:
    ///   - target: The host.
    ///   - probe: Sends a request, and returns its result.
    /// - Returns: The result, which may be that of another account.
    func probe(
        _ target: Target, _ probe: @escaping @MainActor () async -> ServiceHealth.Verdict
    ) async -> ServiceHealth.Verdict {
        while let other = running[target] {
            let verdict = await other.value
            if case .unreachable = verdict { return verdict }
        }
        let task = Task {
            defer { running[target] = nil }
            return await probe()
        }
        running[target] = task
        return await task.value
    }
}
