internal import Glibc
internal import System

/// The programs of this package, as they were built along with the tests.
package enum BuiltProducts {
    /// The directory that the test bundle lies in: `.build/debug`.
    package static let directory: String = {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink("/proc/self/exe", $0, text.count) } ?? 0
            }
        }
        let path = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    /// The path of the program `name`.
    package static func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Copies a program, so that it can be run from there.
    ///
    /// By another process: one that a test starts meanwhile would inherit a file that is being written, and nobody
    /// can run it as long as that is open ("Text file busy").
    ///
    /// - Throws: `SpawnError`, ``SystemError``.
    package static func copy(_ name: String, to path: String) throws {
        let copy = try SpawnedProcess("/bin/cp", [self.path(name), path])
        guard copy.waitForExit() == .code(0) else { throw SystemError("cp \(path)", EIO) }
    }
}
