internal import Web

/// The memory for large responses to plugins. Each plugin has a share of its own.
///
/// Responses that do not fit wait until other responses to the same plugin are released. A response that fits does not
/// wait for a larger response that was requested earlier.
final class ResponseMemory {
    private struct Waiting {
        let bytes: Int
        let plugin: String
        let transfer: Transfer
    }

    private let limit: Int
    /// The bytes of the responses to each plugin.
    private var used: [String: Int] = [:]
    private var waiting: [Waiting] = []

    /// - Parameter limit: The number of bytes of all responses to a plugin. A larger response is granted alone.
    init(limit: Int) { self.limit = limit }

    /// Requests memory.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes.
    ///   - plugin: The plugin that receives the response.
    ///   - transfer: Receives the memory later if it is not available, until ``cancel(_:)``.
    /// - Returns: The memory if it is available.
    func request(
        _ bytes: Int, for plugin: String, _ transfer: Transfer
    ) -> MemoryReservation? {
        if fits(bytes, plugin) { return reserve(bytes, plugin) }
        waiting.append(Waiting(bytes: bytes, plugin: plugin, transfer: transfer))
        return nil
    }

    /// Withdraws the request of a transfer.
    func cancel(_ transfer: Transfer) { waiting.removeAll { $0.transfer === transfer } }

    private func fits(_ bytes: Int, _ plugin: String) -> Bool {
        used[plugin].map { $0 + bytes <= limit } ?? true
    }

    private func reserve(_ bytes: Int, _ plugin: String) -> MemoryReservation {
        used[plugin, default: 0] += bytes
        return MemoryReservation { [weak self] in
            Task { @MainActor in self?.release(bytes, plugin) }
        }
    }

    private func release(_ bytes: Int, _ plugin: String) {
        let rest = (used[plugin] ?? 0) - bytes
        used[plugin] = rest > 0 ? rest : nil
        while let index = waiting.firstIndex(where: {
            $0.plugin == plugin && fits($0.bytes, plugin)
        }) {
            let next = waiting.remove(at: index)
            next.transfer.receiveMemory(reserve(next.bytes, plugin))
        }
    }
}
