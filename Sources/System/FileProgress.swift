internal import Synchronization

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
