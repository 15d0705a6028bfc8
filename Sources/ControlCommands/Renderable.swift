internal import ArgumentParser
internal import JSONFormat

/// A result that a command prints as text or as JSON.
protocol Renderable {
    /// The result as one JSON document.
    var json: JSON { get }

    /// Returns the result as text: formatted for a terminal, or as tab-separated fields for a pipe.
    ///
    /// The text is empty or ends with a line feed.
    func text(for target: OutputTarget) -> String

    /// Returns the bytes to write.
    ///
    /// The default is the UTF-8 form of ``text(for:)``. A result with bytes that are not UTF-8 has its own
    /// implementation.
    func bytes(for target: OutputTarget) -> [UInt8]
}

extension Renderable {
    func bytes(for target: OutputTarget) -> [UInt8] { Array(text(for: target).utf8) }
}

/// The options of every command.
struct OutputOptions: ParsableArguments {
    @Flag(help: .tr("Print the result as JSON."))
    var json = false

    /// The name of the option, and whether it is given, for ``exclude(_:_:)``.
    var use: (name: String, isGiven: Bool) { ("--json", json) }

    /// Prints a result to standard output, in the format that the options select.
    ///
    /// - Parameter result: The result of the command.
    /// - Throws: ``CommandFailure`` if it cannot be written.
    @MainActor func show(_ result: some Renderable) throws(CommandFailure) {
        if json {
            try Console.write(result.json.text + "\n")
        } else {
            try Console.write(result.bytes(for: .standardOutput))
        }
    }

    /// Prints the result of a command that prints one line, or nothing, without `--json`.
    ///
    /// - Parameters:
    ///   - document: The JSON document.
    ///   - fields: Returns the fields of the line; nil to print nothing.
    /// - Throws: ``CommandFailure`` if it cannot be written.
    @MainActor func show(
        _ document: JSON, fields: ((OutputTarget) -> [String])? = nil
    ) throws(CommandFailure) {
        if json {
            try Console.write(document.text + "\n")
        } else if let fields {
            try Console.write(TerminalText.fields(fields(.standardOutput)))
        }
    }
}
