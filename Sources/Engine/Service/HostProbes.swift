/// Lets one account at a time find out whether a host is there again.
final class HostProbes {
    private var running: [String: Task<ServiceHealth.Verdict, Never>] = [:]

    /// Asks a host when nobody else is asking it; not at all if they find nobody there.
    ///
    /// - Parameters:
    ///   - host: Which one.
    ///   - ask: Asks, and says how that went.
    /// - Returns: What was found: that nobody is there, maybe by another.
    func probe(
        _ host: String, _ ask: @escaping @MainActor () async -> ServiceHealth.Verdict
    ) async -> ServiceHealth.Verdict {
        while let other = running[host] {
            let verdict = await other.value
            if case .unreachable = verdict { return verdict }
        }
        let task = Task {
            defer { running[host] = nil }
            return await ask()
        }
        running[host] = task
        return await task.value
    }
}
