internal import Glibc
internal import ImageProtocol

/// Writes into a file what a library hands out piece by piece, and remembers what went wrong.
final class DescriptorWriter {
    private let descriptor: Int32
    private var code: Int32 = 0

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The writer behind a callback's context.
    static func from(_ context: UnsafeMutableRawPointer?) -> DescriptorWriter {
        guard let context else { preconditionFailure("A callback came without its context") }
        return Unmanaged<DescriptorWriter>.fromOpaque(context).takeUnretainedValue()
    }

    /// Writes all of it.
    ///
    /// - Returns: Whether that worked; if not, nothing more is written.
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

    /// Throws if something could not be written.
    func check() throws(ImageFailure) {
        if code != 0 { throw .cannotWrite(code) }
    }
}
