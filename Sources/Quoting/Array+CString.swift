extension [UInt8] {
    /// Creates an array of the bytes of a C string, without the terminating NUL.
    package init(cString: UnsafePointer<CChar>) {
        self = []
        var next = cString
        while next.pointee != 0 {
            append(UInt8(bitPattern: next.pointee))
            next = next.successor()
        }
    }
}
