/// A restriction that could not be enforced.
package struct SandboxError: Error, Hashable, CustomStringConvertible {
    /// The attempted action.
    package let restriction: String
    /// The value of `errno`.
    package let code: Int32

    package var description: String { "\(restriction) failed with error \(code)" }
}
