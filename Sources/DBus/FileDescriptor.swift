internal import CDBus
internal import Glibc
internal import System

/// An open file that is passed over the bus. D-Bus type `h`.
///
/// Owns the descriptor and closes it with the last reference. The receiver gets a duplicate.
nonisolated package final class FileDescriptor: Sendable {
    /// The number of the descriptor, valid for the lifetime of this object.
    package let rawValue: Int32

    /// Takes ownership of `rawValue`, which must be open and have no other owner.
    package init(owning rawValue: Int32) { self.rawValue = rawValue }

    deinit { close(rawValue) }
}

nonisolated extension FileDescriptor: BusType, Hashable {
    package static let signature: Signature = "h"

    package func encode(into encoder: inout Encoder) { encoder.append(descriptor: self) }

    package convenience init(from decoder: inout Decoder) throws(BusError) {
        // libdbus returns a duplicate.
        let descriptor = try decoder.basic(Self.signature, as: Int32.self)
        guard descriptor >= 0 else { throw .invalidValue("no more file descriptors") }
        self.init(owning: descriptor)
    }

    package static func == (left: FileDescriptor, right: FileDescriptor) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

nonisolated extension FileDescriptor {
    /// Creates a pipe that contains bytes, followed by the end of file.
    ///
    /// - Parameter bytes: The contents, 64 KiB at most: the capacity of a pipe that is not being read.
    /// - Returns: The read end; nil, with `errno` set, if the pipe cannot be created or filled.
    package static func pipe(holding bytes: UnsafeRawBufferPointer) -> FileDescriptor? {
        guard let ends = try? PipeEnds() else { return nil }
        // A pipe with a smaller buffer fails instead of blocking.
        guard fcntl(ends.writing, F_SETFL, O_NONBLOCK) == 0,
            write(ends.writing, bytes.baseAddress, bytes.count) == bytes.count
        else { return nil }
        return FileDescriptor(owning: ends.takeReading())
    }
}
