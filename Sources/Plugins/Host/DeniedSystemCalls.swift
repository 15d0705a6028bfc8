internal import Sandbox
internal import System

/// The receiver of the system calls of a plugin that its filter reports. Each of them fails, except for the start of a
/// thread within the limit.
final class DeniedSystemCalls {
    private var socket: DescriptorSource?
    private var listener: DescriptorSource?

    /// - Parameters:
    ///   - socket: The socket to which the launcher sends the ``SystemCallListener``. The receiver closes it.
    ///   - threads: The number of threads that the plugin may have.
    ///   - process: The process of the plugin, which owns the receiver.
    init(_ socket: Int32, threads: Int, of process: PluginProcess) {
        self.socket = DescriptorSource(socket, .reading) { [weak self, weak process] in
            guard let self, let process else { return }
            defer { self.socket?.cancel() }
            do throws(SandboxError) {
                let new = try SystemCallListener(from: socket, threads: threads)
                if let new { listen(new, process) }
            } catch {
                process.terminate("\(error)")
            }
        }
        self.socket?.resume()
    }

    isolated deinit {
        socket?.cancel()
        listener?.cancel()
    }

    private func listen(_ new: SystemCallListener, _ process: PluginProcess) {
        var calls = new
        listener = DescriptorSource(new.descriptor, .reading) { [weak self, weak process] in
            guard let process else { return }
            let (report, time) = MessageWork.measure { calls.next() }
            switch report {
            case .refused(let name): process.recordDeniedCall(name)
            case .permitted, .nothing: break
            case .over: self?.listener?.cancel()
            }
            process.recordRound(time)
        }
        listener?.resume()
    }
}
