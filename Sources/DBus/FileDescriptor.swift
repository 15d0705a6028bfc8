internal import CDBus
internal import Glibc

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
    package static let alignment = 4

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
