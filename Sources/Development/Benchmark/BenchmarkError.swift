internal import Glibc

/// What kept us from measuring.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A call of the system that failed.
    static func system(_ function: String, _ code: Int32 = errno) -> BenchmarkError {
        BenchmarkError("\(function): \(String(cString: strerror(code)))")
    }
}
