internal import ProviderKit

/// The memory for large responses to plugins.
///
/// Responses that do not fit wait until other responses are released. A response that fits does not wait for a larger
/// response that was requested earlier.
final class ResponseMemory {
    private struct Waiting {
        let number: Int
        let bytes: Int
        let grant: (MemoryReservation) -> Void
    }

    private let limit: Int
    private var used = 0
    private var waiting: [Waiting] = []
    private var lastNumber = 0

    /// - Parameter limit: The number of bytes of all responses together. A larger response is granted alone.
    init(limit: Int) { self.limit = limit }

    /// Requests memory.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes.
    ///   - grant: Receives the memory, within this call if it is available. Not called after ``cancel(_:)``.
    /// - Returns: The number of the request for ``cancel(_:)``; nil if the memory was granted.
    func request(_ bytes: Int, grant: @escaping (MemoryReservation) -> Void) -> Int? {
        guard !fits(bytes) else {
            grant(reserve(bytes))
            return nil
        }
        lastNumber += 1
        waiting.append(Waiting(number: lastNumber, bytes: bytes, grant: grant))
        return lastNumber
    }

    /// Withdraws a request.
    func cancel(_ number: Int) { waiting.removeAll { $0.number == number } }

    private func fits(_ bytes: Int) -> Bool { used == 0 || used + bytes <= limit }

    private func reserve(_ bytes: Int) -> MemoryReservation {
        used += bytes
        return MemoryReservation { [weak self] in
            Task { @MainActor in self?.release(bytes) }
        }
    }

    private func release(_ bytes: Int) {
        used -= bytes
        while let index = waiting.firstIndex(where: { fits($0.bytes) }) {
            let next = waiting.remove(at: index)
            next.grant(reserve(next.bytes))
        }
    }
}
