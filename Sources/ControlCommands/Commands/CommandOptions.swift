internal import ArgumentParser
internal import Translation

/// The option that selects an account.
struct AccountOption: ParsableArguments {
    @Option(
        help: .init(
            tr("The ID of an account, or an unambiguous prefix. If omitted: the default account.")))
    var account: String?
}

/// The options that select an account or the combined account.
struct CombinedAccountOption: ParsableArguments {
    @OptionGroup var accountOption: AccountOption
    @Flag(help: .init(tr("All accounts that are logged in, as one.")))
    var combined = false

    func validate() throws {
        if combined, accountOption.account != nil {
            throw ValidationError(tr("--combined cannot be used with --account."))
        }
    }
}

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
