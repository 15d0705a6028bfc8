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

    /// The help of an account that may be omitted.
    static var account: ArgumentHelp {
        .tr("The ID of an account, or an unambiguous prefix. If omitted: the default account.")
    }

    /// The help of a source.
    static var source: ArgumentHelp {
        .tr("A source listed by “imagefeedctl sources”. If omitted: the account's default source.")
    }
}

/// The options that select an account or the combined account.
struct CombinedAccountOption: ParsableArguments {
    @Option(help: .account)
    var account: String?
    @Flag(help: .tr("All accounts that are logged in, as one."))
    var combined = false

    func validate() throws {
        if combined, account != nil {
            throw ValidationError(tr("--combined cannot be used with --account."))
        }
    }
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
