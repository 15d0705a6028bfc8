/// A restriction that could not be put in force.
package struct SandboxError: Error, Hashable, CustomStringConvertible {
    /// What was tried.
    package let restriction: String
    /// The `errno`.
    package let code: Int32

    package var description: String { "\(restriction) failed with error \(code)" }
}
