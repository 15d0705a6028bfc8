internal import Glibc

extension UnsafeMutableRawBufferPointer {
    /// Overwrites the bytes with zeros. The compiler does not omit it.
    ///
    /// The corresponding C function is `explicit_bzero`.
    package func wipe() {
        if let baseAddress { explicit_bzero(baseAddress, count) }
    }
}

extension [UInt8] {
    /// Overwrites the bytes of this copy with zeros.
    package mutating func wipe() { withUnsafeMutableBytes { $0.wipe() } }
}
