/// The result of the start of a sandbox.
enum SandboxStart {
    case succeeded
    /// The start failed. The text is the last line of standard error.
    case failed(String)
    /// There were too few resources for the start. The text is the last line of standard error.
    case shortage(String)

    /// - Parameters:
    ///   - report: The report of the sandbox; nil if it provides none.
    ///   - lastErrorLine: The last line of standard error; nil if there was none.
    init(_ report: ConfinementReport?, lastErrorLine: String?) {
        guard report?.saysThatItFailed == true else {
            self = .succeeded
            return
        }
        let line = lastErrorLine ?? "no reason was given"
        self = Shortage.isReason(for: [line]) ? .shortage(line) : .failed(line)
    }
}
