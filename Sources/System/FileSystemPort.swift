internal import Glibc

/// The parts of the file system that tests replace.
package struct FileSystemPort: Sendable {
    /// Called with the absolute path before each file system call of a job. May block. An `errno` other than 0 replaces
    /// the result of the call, which is then not made. nil without faults.
    package var fault: (@Sendable ([UInt8]) -> Int32)?
    /// Returns the mount points of this process, as absolute paths.
    package var mountPoints: @Sendable () -> Set<[UInt8]>

    /// Creates the port of the real file system.
    ///
    /// - Parameters:
    ///   - fault: Called before each call.
    ///   - mountPoints: Returns the mount points.
    package init(
        fault: (@Sendable ([UInt8]) -> Int32)? = nil,
        mountPoints: @escaping @Sendable () -> Set<[UInt8]> = Self.kernelMountPoints
    ) {
        self.fault = fault
        self.mountPoints = mountPoints
    }

    /// Reads the mount points from the kernel, without access to the mounted file systems.
    ///
    /// Source: proc_pid_mountinfo(5). The fifth field is the mount point; space, tab, newline and backslash are octal.
    @Sendable package static func kernelMountPoints() -> Set<[UInt8]> {
        let file = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        return Set(
            lines.compactMap { line in
                let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
                return fields.count > 4 ? unescaped(fields[4]) : nil
            })
    }

    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                result.append(value)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
