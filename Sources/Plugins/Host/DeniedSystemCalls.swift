internal import Sandbox
internal import System

/// The receiver of the system calls of a plugin that its filter reports. Each of them fails, except for the start of a
/// thread within the limit.
final class DeniedSystemCalls {
    private var socket: DescriptorSource?
    private var listener: DescriptorSource?

    /// The functions that the receiver calls.
    struct Handlers {
        /// Called if the system calls cannot be received.
        let lost: (SandboxError) -> Void
        /// Called with the name of a system call that was denied.
        let denied: (_ name: String) -> Void
        /// Called with the processor time of each report.
        let spent: (Duration) -> Void
    }

    /// - Parameters:
    ///   - socket: The socket to which the launcher sends the ``SystemCallListener``. The receiver closes it.
    ///   - threads: The number of threads that the plugin may have.
    ///   - handlers: The functions that the receiver calls.
    init(_ socket: Int32, threads: Int, _ handlers: Handlers) {
        self.socket = DescriptorSource(socket, .reading) { [weak self] in
            guard let self else { return }
            let new = Result { () throws(SandboxError) in
                try SystemCallListener(from: socket, threads: threads)
            }
            self.socket?.cancel()
            switch new {
            case .success(let listener?): listen(listener, handlers)
            case .success(nil): break
            case .failure(let error): handlers.lost(error)
            }
        }
        self.socket?.resume()
    }

    isolated deinit {
        socket?.cancel()
        listener?.cancel()
    }

    private func listen(_ new: SystemCallListener, _ handlers: Handlers) {
        var calls = new
        listener = DescriptorSource(new.descriptor, .reading) { [weak self] in
            let (report, time) = MessageWork.measure { calls.next() }
            switch report {
            case .refused(let name): handlers.denied(name)
            case .permitted, .nothing: break
            case .over: self?.listener?.cancel()
            }
            handlers.spent(time)
        }
        listener?.resume()
    }
}
