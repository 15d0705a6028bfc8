internal import Glibc

/// A failed system call.
package struct SystemError: Error, CustomStringConvertible {
    package let description: String

    package init(_ function: String, _ code: Int32) {
        description = "\(function): \(String(cString: strerror(code)))"
    }
}
