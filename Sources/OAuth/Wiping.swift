internal import Glibc

nonisolated extension Array<UInt8> {
    /// Overwrites the bytes with zeros, in this holder's copy: others keep theirs.
    mutating func wipe() {
        withUnsafeMutableBytes { bytes in
            if let address = bytes.baseAddress { explicit_bzero(address, bytes.count) }
        }
    }
}
