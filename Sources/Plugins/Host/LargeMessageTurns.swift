/// The turns of plugins to send or receive a large message. One plugin has the turn at a time: large messages of many
/// plugins at a time would take too much memory.
final class LargeMessageTurns {
    /// The turn of a plugin, which ends with its last reference.
    final class Turn {
        private let turns: LargeMessageTurns

        fileprivate init(_ turns: LargeMessageTurns) { self.turns = turns }

        isolated deinit { turns.endTurn() }
    }

    private var isTaken = false
    private var waiting: [(Turn) -> Void] = []

    /// Requests the turn.
    ///
    /// - Parameter begin: Receives the turn, within this call if no other plugin has it.
    func request(_ begin: @escaping (Turn) -> Void) {
        guard isTaken else {
            isTaken = true
            return begin(Turn(self))
        }
        waiting.append(begin)
    }

    /// Waits for the turn.
    func next() async -> Turn {
        await withCheckedContinuation { continuation in
            request { continuation.resume(returning: $0) }
        }
    }

    private func endTurn() {
        isTaken = !waiting.isEmpty
        guard isTaken else { return }
        waiting.removeFirst()(Turn(self))
    }
}
