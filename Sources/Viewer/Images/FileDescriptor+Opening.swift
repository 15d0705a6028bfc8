internal import DBus
internal import Glibc

nonisolated extension FileDescriptor {
    /// Opens a file for reading; nil if that is impossible.
    static func opening(_ path: String) -> FileDescriptor? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        return descriptor >= 0 ? FileDescriptor(owning: descriptor) : nil
    }
}
