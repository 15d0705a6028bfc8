internal import ArgumentParser

/// The option that selects an account.
struct AccountOption: ParsableArguments {
    @Option(
        help: "The ID of an account, or an unambiguous prefix. If omitted: the default account.")
    var account: String?
}
