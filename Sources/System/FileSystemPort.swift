internal import Sandbox
internal import Synchronization

/// The parts of the file system that tests replace.
package struct FileSystemPort: Sendable {
    /// Called with the absolute path before each file system call of a job. May block. An `errno` other than 0 replaces
    /// the result of the call, which is then not made. nil without faults.
    package var fault: (@Sendable ([UInt8]) -> Int32)?
    /// Returns the mount points of this process, as absolute paths.
    package var mountPoints: @Sendable () -> Set<[UInt8]>
    /// Returns the devices of the file systems that do not announce all changes.
    package var remoteDevices: @Sendable () -> Set<Int64>

    /// Creates the port of the real file system.
    ///
    /// - Parameters:
    ///   - fault: Called before each call.
    ///   - mountPoints: Returns the mount points.
    ///   - remoteDevices: Returns the devices of the file systems that do not announce all changes.
    package init(
        fault: (@Sendable ([UInt8]) -> Int32)? = nil,
        mountPoints: @escaping @Sendable () -> Set<[UInt8]> = {
            Set(Self.kernelMounts().map(\.path))
        },
        remoteDevices: @escaping @Sendable () -> Set<Int64> = {
            Set(Self.kernelMounts().filter(\.isRemote).map(\.device))
        }
    ) {
        self.fault = fault
        self.mountPoints = mountPoints
        self.remoteDevices = remoteDevices
    }

    /// Reads the mounts from the kernel, without access to the mounted file systems.
    ///
    /// Source: proc_pid_mountinfo(5).
    private static func kernelMounts() -> [Mount] {
        Mount.all(in: KernelFile.bytes("/proc/self/mountinfo") ?? [])
    }
}

/// The progress of a job of ``FileThreads``.
package final class FileProgress: Sendable {
    private struct State {
        var path: [UInt8]
        var lastTime = FileThreads.now
        var isAbandoned = false
    }

    private let state: Mutex<State>
    private let port: FileSystemPort

    init(_ path: [UInt8], _ port: FileSystemPort) {
        state = Mutex(State(path: path))
        self.port = port
    }

    /// Announces a file system call, and restarts the time limit.
    ///
    /// - Parameter path: The absolute path that the call uses.
    /// - Returns: 0 if the job must make the call; otherwise an `errno`, which is ``abandoned`` if the job must end.
    package func begin(_ path: [UInt8]) -> Int32 {
        let goesOn = state.withLock { state in
            state.path = path
            state.lastTime = FileThreads.now
            return !state.isAbandoned
        }
        return goesOn ? port.fault?(path) ?? 0 : Self.abandoned
    }

    /// The error of a job that reached its time limit: `ECANCELED`.
    package static let abandoned: Int32 = 125

    /// Restarts the time limit within a call that takes long.
    ///
    /// - Returns: False if the job must end.
    package func advance() -> Bool {
        state.withLock { state in
            state.lastTime = FileThreads.now
            return !state.isAbandoned
        }
    }

    var lastTime: UInt64 { state.withLock(\.lastTime) }

    func restart() { state.withLock { $0.lastTime = FileThreads.now } }

    /// Ends the job, and returns the path that does not respond.
    func abandon() -> [UInt8] {
        state.withLock { state in
            state.isAbandoned = true
            return state.path
        }
    }
}
