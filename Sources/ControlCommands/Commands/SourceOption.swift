internal import ArgumentParser

/// The option that selects a source.
struct SourceOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: "A source listed by “imagefeedctl sources”. If omitted: the account's default source."
    )
    var source = ""
}
