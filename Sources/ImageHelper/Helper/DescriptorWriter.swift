internal import Glibc
internal import ImageProtocol

/// A destination for libraries that write in pieces. Stores the first error.
final class DescriptorWriter {
    private let descriptor: Int32
    private var code: Int32 = 0

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Returns the writer in the context of a callback.
    static func from(_ context: UnsafeMutableRawPointer?) -> DescriptorWriter {
        guard let context else { preconditionFailure("The callback has no context") }
        return Unmanaged<DescriptorWriter>.fromOpaque(context).takeUnretainedValue()
    }

    /// Writes all bytes.
    ///
    /// - Returns: False after an error. Later calls write nothing.
    func write(_ bytes: UnsafeRawPointer?, _ count: Int) -> Bool {
        guard code == 0, let bytes else { return code == 0 && count == 0 }
        var done = 0
        while done < count {
            let written = Glibc.write(descriptor, bytes + done, count - done)
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                code = written < 0 ? errno : EIO
                return false
            }
            done += written
        }
        return true
    }

    /// Throws the error of an earlier ``write(_:_:)``.
    func check() throws(ImageFailure) {
        if code != 0 { throw .cannotWrite(code) }
    }
}
