internal import Glibc

/// The small files of `/proc` and `/sys`, which the kernel writes when they are read.
package enum KernelFile {
    /// Returns the contents of a file; nil if it cannot be read.
    package static func bytes(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    /// Returns the contents of a file as text; nil if it cannot be read.
    package static func text(_ path: String) -> String? {
        bytes(path).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A mounted file system.
///
/// Source: proc_pid_mountinfo(5).
package struct Mount {
    /// The absolute path of the mount point.
    package let path: [UInt8]
    package let isReadOnly: Bool
    /// The device number, as stat(2) returns it for most file systems.
    package let device: Int64
    /// The type, such as `ext4`.
    package let type: String

    /// The types whose files other computers and programs change without a notification, except those of FUSE.
    private static let remoteTypes: Set = [
        "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse", "gpfs", "lustre", "ncpfs", "nfs",
        "nfs4", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
    ]

    /// True if the kernel does not announce all changes: the file system is on a network, or of FUSE.
    package var isRemote: Bool { Self.remoteTypes.contains(type) || type.hasPrefix("fuse.") }

    private static let space = UInt8(ascii: " ")

    /// Returns the mounts in the contents of a file `mountinfo`, in their order.
    package static func all(in table: [UInt8]) -> [Mount] {
        table.split(separator: UInt8(ascii: "\n")).compactMap(Mount.init)
    }

    /// Reads a line. The third field is the device, the fifth one the mount point, and the sixth one has the options. The
    /// type follows the field `-`.
    private init?(_ line: ArraySlice<UInt8>) {
        let fields = line.split(separator: Self.space)
        guard fields.count > 5 else { return nil }
        let numbers = String(decoding: fields[2], as: UTF8.self).split(separator: ":")
            .compactMap { UInt32($0) }
        device = numbers.count == 2 ? Self.device(numbers[0], numbers[1]) : 0
        type =
            fields.drop { $0 != [UInt8(ascii: "-")] }.dropFirst().first
            .map { String(decoding: $0, as: UTF8.self) } ?? ""
        path = Self.unescaped(fields[4])
        isReadOnly = fields[5].split(separator: UInt8(ascii: ",")).contains(Array("ro".utf8)[...])
    }

    /// Returns the number of a device. The corresponding C macro is `makedev`.
    private static func device(_ major: UInt32, _ minor: UInt32) -> Int64 {
        let (major, minor) = (UInt64(major), UInt64(minor))
        return Int64(
            bitPattern: (major & 0xffff_f000) << 32 | (major & 0xfff) << 8
                | (minor & 0xffff_ff00) << 12 | minor & 0xff)
    }

    /// Returns the mount that contains a path: the last one at the deepest mount point, which hides the earlier ones.
    static func containing(_ path: [UInt8], in mounts: [Mount]) -> Mount? {
        let slash = [UInt8(ascii: "/")]
        let above = mounts.filter {
            $0.path == slash || path == $0.path || path.starts(with: $0.path + slash)
        }
        return above.reduce(nil) { deepest, mount in
            (deepest?.path.count ?? 0) > mount.path.count ? deepest : mount
        }
    }

    /// Replaces the octal escapes of space, tab, newline and backslash.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"),
                let value = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
