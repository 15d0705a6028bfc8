internal import EventLoop
internal import Sandbox

/// Tells which system calls a plugin tries that it may not make: they fail, and wait until then.
final class RefusedCalls {
    private var socket: DescriptorSource?
    private var listener: DescriptorSource?

    /// - Parameters:
    ///   - socket: What the launcher sends the ``SystemCallListener`` to. Becomes our own.
    ///   - onLoss: Called when they cannot be told.
    ///   - handler: Called with the name of each.
    init(
        _ socket: Int32, onLoss: @escaping (SandboxError) -> Void,
        handler: @escaping (_ name: String) -> Void
    ) {
        self.socket = DescriptorSource(socket, .reading) { [weak self] in
            guard let self else { return }
            let new = Result { () throws(SandboxError) in try SystemCallListener(from: socket) }
            self.socket?.cancel()
            switch new {
            case .success(let listener?): listen(listener, handler)
            case .success(nil): break
            case .failure(let error): onLoss(error)
            }
        }
        self.socket?.resume()
    }

    isolated deinit {
        socket?.cancel()
        listener?.cancel()
    }

    private func listen(_ new: SystemCallListener, _ handler: @escaping (String) -> Void) {
        listener = DescriptorSource(new.descriptor, .reading) { [weak self] in
            guard let self else { return }
            switch new.next() {
            case .refused(let name): handler(name)
            case .nothing: break
            case .over: listener?.cancel()
            }
        }
        listener?.resume()
    }
}
