internal import ArgumentParser
internal import Translation

/// The option that selects a source.
struct SourceOption: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init(
            tr(
                "A source listed by “imagefeedctl sources”. If omitted: the account's default source."
            ))
    )
    var source = ""
}
