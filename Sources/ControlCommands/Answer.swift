internal import ArgumentParser

/// What a command prints: a value that can be read in two ways.
protocol Answer {
    /// One JSON document.
    var json: JSON { get }

    /// For people, or for programs that read fields; ends with a line feed, unless it is empty.
    func text(for medium: Medium) -> String
}

/// The options that every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// Prints the answer to standard output.
    ///
    /// - Parameter answer: What the command found out.
    /// - Throws: ``CommandFailure`` when it cannot be written.
    @MainActor func show(_ answer: some Answer) throws(CommandFailure) {
        try Console.write(json ? answer.json.text + "\n" : answer.text(for: .standardOutput))
    }
}
