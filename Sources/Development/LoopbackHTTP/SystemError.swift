internal import Glibc

/// A call of the system that failed.
package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    package init(_ function: String, _ code: Int32) {
        description = "\(function): \(String(cString: strerror(code)))"
    }
}
