internal import CLinux
internal import CSandbox
internal import Glibc

/// Where the kernel tells of the system calls that a ``SystemCallFilter`` of another process reports. Each of them
/// waits until it is taken.
///
/// Source: seccomp_unotify(2).
package struct SystemCallListener: Sendable {
    /// Can be read from when a call waits, and when none will ever come. The holder closes it.
    package let descriptor: Int32

    /// Takes over what the process has sent that is under the filter; nil where nothing came, and nothing will:
    /// it has none, or is gone.
    ///
    /// - Parameter socket: What it was sent to.
    /// - Throws: ``SandboxError`` when it was sent, and cannot be had: too many descriptors are open.
    package init?(from socket: Int32) throws(SandboxError) {
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
    }

    /// What is to be heard.
    package enum Report: Hashable, Sendable {
        /// A call, by its name, that fails now with `EPERM`.
        case refused(String)
        /// Nothing yet.
        case nothing
        /// Nothing any more: nobody is under the filter.
        case over
    }

    /// Takes the next report. Does not wait.
    package func next() -> Report {
        switch shim_refuse_next(descriptor) {
        case -1: .nothing
        case -2: .over
        case let call: .refused(SystemCallFilter.name(call))
        }
    }
}
