internal import Glibc

/// A failure that prevents the measurement.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Returns the error for a failed system call.
    static func system(_ function: String, _ code: Int32 = errno) -> BenchmarkError {
        BenchmarkError("\(function): \(String(cString: strerror(code)))")
    }
}
