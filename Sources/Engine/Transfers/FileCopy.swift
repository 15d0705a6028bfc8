internal import CLinux
internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import Synchronization
internal import System

/// The way of a file into a caller's descriptor, on a queue of its own: a reader may take its time, and a
/// disk may be slow.
nonisolated final class FileCopy: Sendable {
    private static let bufferBytes = 256 << 10

    private let source: Int32
    /// How large the source was at first: what is appended meanwhile is left out, even if we do it ourselves.
    let total: Int
    private let destination: TransferDestination
    private let interruption: Interruption
    private let copied = Atomic(0)
    /// Whether the main queue is about to look at ``copied``.
    private let isTold = Atomic(false)

    /// - Parameters:
    ///   - source: A file that is open for reading, at its beginning. Closed with the last reference, and if
    ///     this throws.
    ///   - destination: Where it goes.
    /// - Throws: ``EngineError/cannotWrite(_:)`` when there can be no more descriptors.
    init(of source: Int32, to destination: TransferDestination) throws(EngineError) {
        var status = stat()
        do throws(EngineError) {
            guard fstat(source, &status) == 0 else { throw EngineError.cannotWrite(errno) }
            interruption = try Interruption()
        } catch {
            close(source)
            throw error
        }
        self.source = source
        self.destination = destination
        total = Int(status.st_size)
    }

    deinit { close(source) }

    /// Copies all of it, however long that takes.
    ///
    /// - Parameter progress: Called with the number of bytes that are written, as often as the main queue
    ///   comes to it, and maybe once more after this has returned.
    /// - Throws: ``EngineError/cannotWrite(_:)``; ``ProviderError/failed(_:)`` when the source cannot be read;
    ///   `CancellationError` when the task is cancelled. After this returns or throws nothing is written.
    func run(_ progress: @escaping @MainActor (Int) -> Void) async throws {
        try await withTaskCancellationHandler {
            try await DispatchQueue(label: "transfer").run { try self.copy(progress) }
        } onCancel: {
            interruption.raise()
        }
    }

    private func copy(_ progress: @escaping @MainActor (Int) -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: min(Self.bufferBytes, max(1, total)))
        var left = total
        while left > 0 {
            let count = read(source, &buffer, min(buffer.count, left))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw ProviderError.failed(
                    "The photo cannot be read: \(String(cString: strerror(errno))).")
            }
            guard count > 0 else {
                throw ProviderError.failed("The photo changed while it was being copied.")
            }
            try buffer.withUnsafeBytes {
                try write(UnsafeRawBufferPointer(rebasing: $0[..<count]), progress)
            }
            left -= count
        }
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, _ progress: @escaping @MainActor (Int) -> Void
    ) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try destination.write(
                UnsafeRawBufferPointer(rebasing: rest), until: interruption)
            rest = rest.dropFirst(count)
            copied.add(count, ordering: .relaxed)
            guard !isTold.exchange(true, ordering: .acquiringAndReleasing) else { continue }
            DispatchQueue.main.async {
                self.isTold.store(false, ordering: .releasing)
                progress(self.copied.load(ordering: .relaxed))
            }
        }
    }
}
