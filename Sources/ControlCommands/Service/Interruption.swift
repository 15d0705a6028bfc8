internal import Glibc

/// A call of the daemon that Ctrl-C cancels. A second Ctrl-C exits without waiting for the daemon.
@MainActor
final class Interruption {
    private let prepareExit: () -> Void
    private var isInterrupted = false
    private var cancel: (() async throws -> Void)?

    private init(_ prepareExit: @escaping () -> Void) { self.prepareExit = prepareExit }

    /// Runs a call.
    ///
    /// - Parameters:
    ///   - prepareExit: Called before the exit after a second Ctrl-C.
    ///   - body: The call. It passes the method that cancels it to ``setCancel(_:)``.
    /// - Returns: The result of `body`.
    /// - Throws: `CancellationError` after Ctrl-C, otherwise the error of `body`.
    static func run<Value>(
        prepareExit: @escaping () -> Void = {}, _ body: (Interruption) async throws -> Value
    ) async throws -> Value {
        let interruption = Interruption(prepareExit)
        let watch = SignalWatch { interruption.interrupt() }
        defer { withExtendedLifetime(watch) {} }
        do {
            return try await body(interruption)
        } catch {
            throw interruption.isInterrupted ? CancellationError() : error
        }
    }

    /// Sets the method that cancels the call, and calls it if Ctrl-C was pressed before.
    func setCancel(_ cancel: @escaping () async throws -> Void) async {
        self.cancel = cancel
        if isInterrupted { try? await cancel() }
    }

    private func interrupt() {
        if isInterrupted {
            prepareExit()
            exit(ProgramStatus.interrupted.rawValue)
        }
        isInterrupted = true
        // If the call has already ended, `cancel` fails, and the command has the result of the call.
        if let cancel { Task { try? await cancel() } }
    }
}
