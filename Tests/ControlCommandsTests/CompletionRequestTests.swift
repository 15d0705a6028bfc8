import Testing

@testable import ControlCommands

struct CompletionRequestTests {
    private func request(_ words: String...) throws -> CompletionRequest {
        CompletionRequest(words, try #require(CommandOutline.ofThisProgram).command)
    }

    @Test func `the first word is completed to a command`() throws {
        #expect(try request("fe").expected == .command)
        #expect(try request("").expected == .command)
        #expect(try request("help", "f").expected == .command)
        #expect(try request("--v").expected == .option(orValue: nil))
    }

    @Test func `a word is completed to the value of its argument or option`() throws {
        #expect(try request("like", "").expected == .value("photo"))
        #expect(try request("logout", "").expected == .value("account"))
        #expect(try request("login", "").expected == .value("provider"))
        #expect(try request("login", "local", "--account", "l").expected == .value("account"))
        #expect(try request("profile", "--set-avatar", "").expected == .value("photo"))
        #expect(try request("feed", "--json", "").expected == .nothing)
        #expect(try request("like", "7", "").expected == .nothing)
        #expect(try request("image", "7", "--size", "").expected.words?.contains("thumb") == true)
    }

    @Test func `a subcommand has its own arguments`() throws {
        #expect(try request("provider", "t").command.commandName == "provider")
        #expect(try request("provider", "t").expected == .command)
        #expect(try request("provider", "test", "").expected == .value("manifest-file"))
        let option = try request("provider", "test", "--")
        #expect(option.expected == .option(orValue: "manifest-file"))
        #expect(option.command.commandName == "test")
    }

    @Test func `an option may be in front of a subcommand`() async throws {
        #expect(try request("slideshow", "--name", "").expected == .value("slideshow"))
        let request = try request("slideshow", "--name=f")
        #expect(request.expected == .value("slideshow") && request.prefix == "f")
        #expect(try self.request("slideshow", "--name", "frame", "").expected == .command)
        #expect(try self.request("slideshow", "--n").expected == .option(orValue: nil))
        let next = try self.request("slideshow", "--name", "frame", "next", "")
        #expect(next.command.commandName == "next" && next.expected == .nothing)
    }

    @Test func `the shell completes the name of a folder`() async throws {
        let request = try request("configure", "local", "--directory", "/wo")
        #expect(await request.candidates() == nil)
    }

    @Test func `the words after help are a command and its subcommand`() throws {
        #expect(try request("help", "").expected == .command)
        #expect(try request("help", "slideshow").expected == .command)
        #expect(try request("help", "slideshow", "").expected == .command)
        #expect(try request("help", "provider", "t").command.commandName == "provider")
        #expect(try request("help", "slideshow", "set", "").expected == .nothing)
        #expect(try request("help", "feed", "").expected == .nothing)
        #expect(try request("help", "nonsense", "").expected == .nothing)
        #expect(try request("help", "help", "").expected == .nothing)
    }

    @Test func `the value of an option may follow an equals sign`() throws {
        let request = try request("image", "7", "--size=th")
        #expect(request.optionPrefix == "--size=")
        #expect(request.prefix == "th")
        #expect(request.expected.words?.contains("thumb") == true)
    }

    @Test func `the typed account is available for the completion of sources`() throws {
        let spaced = try request("feed", "--account", "local_ada", "--source", "al")
        #expect(spaced.values["account"] == "local_ada")
        #expect(spaced.expected == .value("source"))
        #expect(try request("feed", "--account=local_ada", "--source", "").values == spaced.values)
    }

    @Test func `options are offered once, and not after two hyphens`() throws {
        let request = try request("download", "-o", "x", "--f")
        #expect(request.usedOptions == ["-o", "--output"])
        #expect(request.expected == .option(orValue: "photo"))
        #expect(try self.request("like", "--", "-i").expected == .value("photo"))
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
