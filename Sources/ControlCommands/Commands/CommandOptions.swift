internal import ArgumentParser
internal import Translation

extension ArgumentHelp {
    /// Creates the help of an argument in the language of the user.
    ///
    /// - Parameters:
    ///   - text: A literal in English.
    ///   - valueName: The name of the value in the help and in ``CompletionRequest``.
    /// - Returns: The help.
    static func tr(_ text: StaticString, valueName: String? = nil) -> ArgumentHelp {
        ArgumentHelp(Translation.tr(text), valueName: valueName)
    }
}

/// The option that selects an account.
struct AccountOption: ParsableArguments {
    @Option(
        help: .tr(
            "The ID of an account, or an unambiguous prefix. If omitted: the default account."))
    var account: String?
}

/// The options that select an account or the combined account.
struct CombinedAccountOption: ParsableArguments {
    @OptionGroup var accountOption: AccountOption
    @Flag(help: .tr("All accounts that are logged in, as one."))
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
        help: .tr(
            "A source listed by “imagefeedctl sources”. If omitted: the account's default source.")
    )
    var source = ""
}

/// Refuses two options that exclude each other, if both are given.
///
/// - Parameters:
///   - option: The name of an option, and whether it is given.
///   - other: The same for another option.
/// - Throws: `ValidationError`.
func exclude(
    _ option: (name: String, isGiven: Bool), _ other: (name: String, isGiven: Bool)
) throws {
    guard option.isGiven, other.isGiven else { return }
    throw ValidationError(
        tr(
            "{option} cannot be combined with {other}.",
            ["option": option.name, "other": other.name]))
}
