internal import ProviderKit

/// The memory for large responses to plugins. Each plugin has a share of its own.
///
/// Responses that do not fit wait until other responses to the same plugin are released. A response that fits does not
/// wait for a larger response that was requested earlier.
final class ResponseMemory {
    private struct Waiting {
        let number: Int
        let bytes: Int
        let plugin: String
        let grant: (MemoryReservation) -> Void
    }

    private let limit: Int
    /// The bytes of the responses to each plugin.
    private var used: [String: Int] = [:]
    private var waiting: [Waiting] = []
    private var lastNumber = 0

    /// - Parameter limit: The number of bytes of all responses to a plugin. A larger response is granted alone.
    init(limit: Int) { self.limit = limit }

    /// Requests memory.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes.
    ///   - plugin: The plugin that receives the response.
    ///   - grant: Receives the memory, within this call if it is available. Not called after ``cancel(_:)``.
    /// - Returns: The number of the request for ``cancel(_:)``; nil if the memory was granted.
    func request(
        _ bytes: Int, for plugin: String, grant: @escaping (MemoryReservation) -> Void
    ) -> Int? {
        guard !fits(bytes, plugin) else {
            grant(reserve(bytes, plugin))
            return nil
        }
        lastNumber += 1
        waiting.append(Waiting(number: lastNumber, bytes: bytes, plugin: plugin, grant: grant))
        return lastNumber
    }

    /// Withdraws a request.
    func cancel(_ number: Int) { waiting.removeAll { $0.number == number } }

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
            next.grant(reserve(next.bytes, plugin))
        }
    }
}
