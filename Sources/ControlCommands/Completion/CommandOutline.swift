internal import ArgumentParser
internal import JSONFormat

/// The commands of the program with their arguments and options, as described by the argument parser.
///
/// Source: the parser's `--experimental-dump-help`.
struct CommandOutline: Decodable, Sendable {
    struct Command: Decodable, Sendable {
        let commandName: String
        let abstract: String?
        let shouldDisplay: Bool
        let arguments: [Argument]?
        let subcommands: [Command]?

        /// The subcommands that the help shows.
        var visibleCommands: [Command] { (subcommands ?? []).filter(\.shouldDisplay) }
        var positionals: [Argument] { (arguments ?? []).filter { $0.kind == .positional } }
        var options: [Argument] {
            (arguments ?? []).filter { $0.kind != .positional && $0.shouldDisplay }
        }

        /// Returns the visible command with a name.
        func subcommand(_ name: String) -> Command? {
            visibleCommands.first { $0.commandName == name }
        }

        /// Returns the option or flag with a name such as `--size` or `-o`.
        func option(_ name: some StringProtocol) -> Argument? {
            options.first { $0.spellings.contains(String(name)) }
        }
    }

    struct Argument: Decodable, Sendable {
        enum Kind: String, Decodable, Sendable {
            case positional
            case option
            case flag
        }

        let kind: Kind
        let shouldDisplay: Bool
        let isRepeating: Bool
        /// The names without their hyphens, each as `kind` and `name`.
        let names: [[String: String]]?
        /// The name of the value in the help, such as `account`.
        let valueName: String?
        let abstract: String?
        /// All possible values, if they are a fixed set.
        let allValues: [String]?

        /// The names with their hyphens, such as `-o` and `--output`.
        var spellings: [String] {
            (names ?? []).map { ($0["kind"] == "long" ? "--" : "-") + ($0["name"] ?? "") }
        }
    }

    let command: Command

    /// The outline of this program; nil if a new version of the parser uses another format.
    static var ofThisProgram: CommandOutline? { JSON.decode(ImageFeedControl._dumpHelp().utf8) }
}
