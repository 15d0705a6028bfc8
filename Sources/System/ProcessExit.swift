internal import CProcesses
internal import Dispatch
internal import Glibc

/// The exit of a child process. The exit is awaited only once, because the process ID may belong to another process
/// afterwards.
enum ProcessExit {
    /// Calls a handler after the exit.
    ///
    /// The corresponding C function is `pidfd_open`.
    @MainActor static func watch(
        _ id: Int32, _ handler: @escaping @MainActor (SpawnedProcess.Exit) -> Void
    ) {
        let descriptor = shim_pidfd_open(id)
        guard descriptor >= 0 else {
            // Linux before 5.3, or no free descriptors. Uses a separate queue, because the thread pool of libdispatch
            // would wake the process every second from then on.
            DispatchQueue(label: "process-exit").async {
                let exit = block(id)
                DispatchQueue.main.async { handler(exit) }
            }
            return
        }
        var source: DescriptorSource?
        source = DescriptorSource(descriptor, .reading) {
            source?.cancel()
            source = nil
            handler(block(id))
        }
        source?.resume()
    }

    /// Waits for the exit without blocking the thread.
    @MainActor static func wait(_ id: Int32) async -> SpawnedProcess.Exit {
        let result = OneShotResult<SpawnedProcess.Exit, Never>()
        watch(id) { result.complete(.success($0)) }
        return await result.value()
    }

    /// Blocks until the exit.
    ///
    /// The corresponding C function is `waitpid`.
    static func block(_ id: Int32) -> SpawnedProcess.Exit {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 && errno == EINTR {}
        // WIFSIGNALED and WEXITSTATUS are macros, which Swift does not import.
        let signal = status & 0x7f
        return signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
    }
}
