internal import Glibc
internal import System

/// The programs of this package that were built with the tests.
package enum BuiltProducts {
    /// The directory of the test bundle: `.build/debug`.
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

    /// True if the programs are optimized, so that they must keep the limits of installed programs.
    package static let areOptimized = directory.hasSuffix("/release")

    /// The path of the program `name`.
    package static func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Copies a program to a path from which it can be started.
    ///
    /// The copy is made by another process: a child that this process starts meanwhile would inherit the file that is
    /// open for writing, and the copy could not be started until the child closes it ("Text file busy").
    ///
    /// - Throws: `SpawnError`, ``SystemError``.
    package static func copy(_ name: String, to path: String) throws {
        let copy = try SpawnedProcess("/bin/cp", [self.path(name), path])
        guard copy.waitForExit() == .code(0) else { throw SystemError("cp \(path)", EIO) }
    }
}
