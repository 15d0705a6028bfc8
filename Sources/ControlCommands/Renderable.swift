internal import ArgumentParser

/// What a command prints: a value that can be read in two ways.
protocol Renderable {
    /// One JSON document.
    var json: JSON { get }

    /// For people, or for programs that read fields; ends with a line feed, unless it is empty.
    func text(for medium: OutputTarget) -> String

    /// The bytes that are written; those of ``text(for:)``, unless the answer has bytes that are not UTF-8.
    func bytes(for medium: OutputTarget) -> [UInt8]
}

extension Renderable {
    func bytes(for medium: OutputTarget) -> [UInt8] { Array(text(for: medium).utf8) }
}

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// Prints the answer to standard output.
    ///
    /// - Parameter answer: What the command found out.
    /// - Throws: ``CommandFailure`` when it cannot be written.
    @MainActor func show(_ answer: some Renderable) throws(CommandFailure) {
        if json {
            try Console.write(answer.json.text + "\n")
        } else {
            try Console.write(answer.bytes(for: .standardOutput))
        }
    }
}
