internal import CLinux
internal import CSandbox
internal import Glibc

/// The receiver of the starts of threads that a ``SystemCallFilter`` of another process reports. Each start waits for
/// the reply of the listener.
///
/// Source: seccomp_unotify(2).
package struct SystemCallListener {
    /// Readable when a call is waiting, and when no further call is possible. The owner closes it.
    package let descriptor: Int32

    private var threads: ThreadBudget

    /// Receives the listener that a process under the filter has sent; nil if the process has ended or has none.
    ///
    /// - Parameters:
    ///   - socket: The socket from which the listener is received.
    ///   - threads: The number of threads that the process may have.
    /// - Throws: ``SandboxError`` if too many descriptors are open to receive it.
    package init?(from socket: Int32, threads: Int) throws(SandboxError) {
        var byte: UInt8 = 0
        var descriptors = [Int32](repeating: -1, count: SHIM_MOST_DESCRIPTORS)
        var count: Int32 = 0
        let length = shim_receive(socket, &byte, 1, &descriptors, &count)
        try ProcessRestrictions.check(length, "Listening to system calls")
        guard count == 1 else {
            for descriptor in descriptors.prefix(Int(count)) { close(descriptor) }
            return nil
        }
        descriptor = descriptors[0]
        self.threads = ThreadBudget(limit: threads)
    }

    /// Receives and answers the next report, without waiting.
    ///
    /// - Returns: False if no further call is possible: no process is under the filter.
    package mutating func answerNext() -> Bool {
        var call = shim_call()
        switch shim_take_call(descriptor, &call) {
        case 0: return true
        case 1: break
        default: return false
        }
        let count = Int(shim_thread_count(call.thread))
        let isPermitted = threads.permitsStart(
            by: call.thread, running: count > 0 ? count : nil, now: .now)
        // The error of pthread_create(3).
        shim_answer_call(descriptor, call.id, isPermitted ? 0 : EAGAIN)
        return true
    }
}
