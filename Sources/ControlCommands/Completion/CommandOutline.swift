internal import ArgumentParser
internal import FoundationEssentials

/// The commands of the program, with what each takes, as the parser describes them.
///
/// Source: the parser's `--experimental-dump-help`.
struct CommandOutline: Decodable, Sendable {
    struct Command: Decodable, Sendable {
        let commandName: String
        let abstract: String?
        let shouldDisplay: Bool
        let arguments: [Argument]?
        let subcommands: [Command]?

        /// The commands below this one that are shown to people.
        var visibleCommands: [Command] { (subcommands ?? []).filter(\.shouldDisplay) }
        var positionals: [Argument] { (arguments ?? []).filter { $0.kind == .positional } }
        var options: [Argument] {
            (arguments ?? []).filter { $0.kind != .positional && $0.shouldDisplay }
        }

        /// The option or flag of this name: `--size`, `-o`.
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

        struct Name: Decodable, Sendable {
            let kind: String
            let name: String
        }

        let kind: Kind
        let shouldDisplay: Bool
        let isRepeating: Bool
        let names: [Name]?
        /// What a value of it is called in the help: `account`.
        let valueName: String?
        let abstract: String?
        /// All that it can be, if that is a few words.
        let allValues: [String]?

        /// As it is typed: `-o`, `--output`.
        var spellings: [String] {
            (names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
        }
    }

    let command: Command

    /// The outline of this program.
    ///
    /// - Throws: `DecodingError` if the parser describes it in another way than it used to.
    static func ofThisProgram() throws -> CommandOutline {
        try JSONDecoder().decode(
            CommandOutline.self, from: Data(ImageFeedControl._dumpHelp().utf8))
    }
}
