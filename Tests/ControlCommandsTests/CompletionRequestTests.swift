import Testing

@testable import ControlCommands

struct CompletionRequestTests {
    private func request(_ words: String...) throws -> CompletionRequest {
        CompletionRequest(words, try #require(CommandOutline.ofThisProgram).command)
    }

    @Test(
        arguments: [
            ("fe", .command), ("", .command), ("help f", .command), ("--v", .option(orValue: nil)),
            ("like ", .value("photo")), ("logout ", .value("account")),
            ("login ", .value("provider")), ("login local --account l", .value("account")),
            ("profile --set-avatar ", .value("photo")), ("feed --json ", .nothing),
            ("like 7 ", .nothing),
            // A subcommand has its own arguments.
            ("provider t", .command), ("provider test ", .value("manifest-file")),
            ("provider test --", .option(orValue: "manifest-file")),
            // An option may be in front of a subcommand.
            ("slideshow --name ", .value("slideshow")), ("slideshow --name=f", .value("slideshow")),
            ("slideshow --name frame ", .command), ("slideshow --n", .option(orValue: nil)),
            ("slideshow --name frame next ", .nothing),
            // The words after help are a command and its subcommand.
            ("help ", .command), ("help slideshow", .command), ("help slideshow ", .command),
            ("help slideshow set ", .nothing), ("help feed ", .nothing),
            ("help nonsense ", .nothing), ("help help ", .nothing),
            // The words after two hyphens are no options.
            ("like -- -i", .value("photo")),
        ] as [(String, CompletionRequest.Expected)])
    func `a word is completed`(line: String, expected: CompletionRequest.Expected) throws {
        let command = try #require(CommandOutline.ofThisProgram).command
        #expect(CompletionRequest(line.words, command).expected == expected)
    }

    @Test func `a subcommand is found after help and options`() throws {
        #expect(try request("provider", "t").command.commandName == "provider")
        #expect(try request("provider", "test", "--").command.commandName == "test")
        #expect(try request("slideshow", "--name=f").prefix == "f")
        let next = try request("slideshow", "--name", "frame", "next", "")
        #expect(next.command.commandName == "next")
        #expect(try request("help", "provider", "t").command.commandName == "provider")
    }

    @Test func `the shell completes the name of a folder`() async throws {
        let request = try request("configure", "local", "--directory", "/wo")
        #expect(await request.candidates() == nil)
    }

    @Test func `the value of an option may follow an equals sign`() throws {
        #expect(try request("image", "7", "--size", "").expected.words?.contains("thumb") == true)
        let request = try request("image", "7", "--size=th")
        #expect((request.optionPrefix, request.prefix) == ("--size=", "th"))
        #expect(request.expected.words?.contains("thumb") == true)
    }

    @Test func `the typed account is available for the completion of sources`() throws {
        let spaced = try request("feed", "--account", "local_ada", "--source", "al")
        #expect(spaced.values["account"] == "local_ada")
        #expect(spaced.expected == .value("source"))
        #expect(try request("feed", "--account=local_ada", "--source", "").values == spaced.values)
    }

    @Test func `options are offered once`() throws {
        let request = try request("download", "-o", "x", "--f")
        #expect(request.usedOptions == ["-o", "--output"])
        #expect(request.expected == .option(orValue: "photo"))
    }
}

extension CompletionRequest.Expected {
    fileprivate var words: [String]? { if case .oneOf(let words) = self { words } else { nil } }
}

struct ShellWordsTests {
    private static let breaks = " \t\n\"'@><=;|&(:"

    @Test(arguments: [
        ("ctl feed", ["ctl", "feed"]), ("ctl feed ", ["ctl", "feed", ""]),
        (#"ctl a\ b "c d" 'e "f'"#, ["ctl", "a b", "c d", #"e "f"#]),
        ("true && ctl feed", ["ctl", "feed"]), ("x=$(ctl li", ["ctl", "li"]),
        (#"ctl "a\$b\c"#, ["ctl", #"a$b\c"#]), ("", [""]),
    ])
    func `a line is split like in bash`(line: String, words: [String]) {
        #expect(ShellWords(line, breaks: Self.breaks).words == words)
    }

    @Test(arguments: [
        ("ctl topic:na", "topic:nature", "nature"), ("ctl --size=t", "--size=thumb", "thumb"),
        ("ctl al", "album:Sea and $(sky)", #"album:Sea\ and\ \$\(sky\)"#),
        (#"ctl "album:S"#, "album:Sea and sky", "album:Sea and sky"),
        ("ctl album:'S", "album:Sea and sky", "Sea and sky"),
        ("ctl ", "日本", "日本"), ("ctl ", "a`b;c", #"a\`b\;c"#),
    ])
    func `bash receives the quoted rest of a word`(line: String, word: String, rest: String) {
        #expect(ShellWords(line, breaks: Self.breaks).replacement(word) == rest)
    }

    @Test(arguments: [("ctl \"", "a$b"), ("ctl \"", "a`b"), ("ctl '", "it's")])
    func `words that bash expands in quotation marks are not offered`(line: String, word: String) {
        #expect(ShellWords(line, breaks: Self.breaks).replacement(word) == nil)
    }
}
