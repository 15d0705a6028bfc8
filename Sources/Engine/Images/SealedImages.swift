internal import CLinux
internal import Dispatch
internal import EngineModel
internal import Glibc
internal import ProviderKit
internal import System
internal import Translation

/// Copies of image files in memory that no process can modify, for clients.
///
/// A client of the same user can open a descriptor again for writing through `/proc/self/fd`, even if it was opened
/// read-only. The seals of a memfd also prevent that. The memory is charged to the daemon for as long as a client has the image open, so its
/// amount is limited.
///
/// Source: memfd_create(2); fcntl(2), "File Sealing".
package final class SealedImages {
    /// The largest image.
    nonisolated static let maximumImageBytes = 64 << 20
    /// The time after which a call fails because the file cannot be read.
    private static let timeout = Duration.seconds(20)
    /// The first interval between two checks for copies that no client has open.
    private static let shortestPause = Duration.seconds(15)
    private static let longestPause = Duration.seconds(3600)

    private let clock: any Clock<Duration>
    private let copies: SealedCopies
    /// The queues on which files are read. There are several, because a disk may hang.
    private let lanes = (1...4).map { DispatchQueue(label: "sealed-images-\($0)") }
    /// The copies that are being created: the index of the lane, and the client.
    private var pending: [(lane: Int, client: String)] = []
    private var sweep: (task: Task<Void, Never>, pause: Duration)?

    /// - Parameters:
    ///   - clock: Measures pauses and timeouts.
    ///   - limits: The limits of the copies that clients may have open.
    package init(
        clock: any Clock<Duration>, limits: SealedCopies.Limits = SealedCopies.Limits()
    ) {
        self.clock = clock
        copies = SealedCopies(limits)
    }

    /// The number of copies.
    var count: Int { copies.count }

    /// Returns a descriptor of a copy that cannot be modified. The caller closes it.
    ///
    /// - Parameters:
    ///   - source: A regular file, open for reading. It is closed.
    ///   - isComplete: True if the file is never written again, only replaced or deleted.
    ///   - client: The client that calls.
    /// - Returns: The descriptor, open for reading.
    /// - Throws: ``EngineError/tooLarge(_:)``, ``EngineError/tooManyImages``,
    ///   ``ProviderError/failed(_:)`` if the file cannot be read.
    package func copy(
        of source: Int32, isComplete: Bool = false, for client: String
    ) async throws -> Int32 {
        // The limit is checked first because each call has an open file.
        guard pending.count < copies.limits.count.all,
            pending.count(where: { $0.client == client }) < copies.limits.count.client
        else {
            close(source)
            throw EngineError.tooManyImages
        }
        let counts = lanes.indices.map { lane in pending.count { $0.lane == lane } }
        let lane = lanes.indices.min { counts[$0] < counts[$1] } ?? 0
        pending.append((lane, client))
        let outcome = OneShotResult<Int32, any Error>()
        let limit = clock.after(Self.timeout) {
            outcome.complete(
                .failure(
                    ProviderError.failed(
                        Message(verbatim: "The file could not be read in time; try again.")))
            )
        }
        lanes[lane].async { [copies] in
            let result = Result {
                try copies.copy(of: source, isComplete: isComplete, for: client)
            }
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    if let index = self.pending.firstIndex(where: { $0 == (lane, client) }) {
                        self.pending.remove(at: index)
                    }
                    if !outcome.complete(result), case .success(let late) = result { close(late) }
                }
            }
        }
        defer {
            limit.cancel()
            scheduleSweep(after: Self.shortestPause)
        }
        return try await outcome.value()
    }

    /// Closes the copies that no client has open, now and at increasing intervals, until there are none.
    private func scheduleSweep(after pause: Duration) {
        if let sweep {
            guard sweep.pause > pause else { return }
            sweep.task.cancel()
        }
        let task = clock.after(pause) { [weak self] in
            guard let self else { return }
            sweep = nil
            if copies.sweep() > 0 { scheduleSweep(after: min(pause * 2, Self.longestPause)) }
        }
        sweep = (task, pause)
    }
}
