import Testing

@testable import ControlCommands

struct CompletionRequestTests {
    private func request(_ words: String...) throws -> CompletionRequest {
        CompletionRequest(words, try CommandOutline.ofThisProgram().command)
    }

    @Test func `the first word is a command`() throws {
        #expect(try request("fe").wanted == .command)
        #expect(try request("").wanted == .command)
        #expect(try request("help", "f").wanted == .command)
        #expect(try request("--v").wanted == .option(else: nil))
    }

    @Test func `a word is what its place or the option before it wants`() throws {
        #expect(try request("like", "").wanted == .value("photo"))
        #expect(try request("logout", "").wanted == .value("account"))
        #expect(try request("login", "").wanted == .value("provider"))
        #expect(try request("login", "local", "--account", "l").wanted == .value("account"))
        #expect(try request("profile", "--set-avatar", "").wanted == .value("photo"))
        #expect(try request("feed", "--json", "").wanted == .nothing)
        #expect(try request("like", "7", "").wanted == .nothing)
        #expect(try request("image", "7", "--size", "").wanted.words?.contains("thumb") == true)
    }

    @Test func `the value of an option may follow a sign of equality`() throws {
        let request = try request("image", "7", "--size=th")
        #expect(request.fixed == "--size=")
        #expect(request.prefix == "th")
        #expect(request.wanted.words?.contains("thumb") == true)
    }

    @Test func `what is typed tells which account is meant`() throws {
        let spaced = try request("feed", "--account", "local_ada", "--source", "al")
        #expect(spaced.given["account"] == "local_ada")
        #expect(spaced.wanted == .value("source"))
        #expect(try request("feed", "--account=local_ada", "--source", "").given == spaced.given)
    }

    @Test func `options are offered once, and not behind two hyphens`() throws {
        let request = try request("download", "-o", "x", "--f")
        #expect(request.used == ["-o", "--output"])
        #expect(request.wanted == .option(else: "photo"))
        #expect(try self.request("like", "--", "-i").wanted == .value("photo"))
    }
}

extension CompletionRequest.Wanted {
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
    func `a line is split as bash does it`(line: String, words: [String]) {
        #expect(ShellWords(line, breaks: Self.breaks).words == words)
    }

    @Test(arguments: [
        ("ctl topic:na", "topic:nature", "nature"), ("ctl --size=t", "--size=thumb", "thumb"),
        ("ctl al", "album:Sea and $(sky)", #"album:Sea\ and\ \$\(sky\)"#),
        (#"ctl "album:S"#, "album:Sea and sky", "album:Sea and sky"),
        ("ctl album:'S", "album:Sea and sky", "Sea and sky"),
        ("ctl ", "日本", "日本"), ("ctl ", "a`b;c", #"a\`b\;c"#),
    ])
    func `bash gets the rest of a word, quoted`(line: String, word: String, rest: String) {
        #expect(ShellWords(line, breaks: Self.breaks).replacement(word) == rest)
    }

    @Test(arguments: [("ctl \"", "a$b"), ("ctl \"", "a`b"), ("ctl '", "it's")])
    func `what bash would expand within quotes is not offered`(line: String, word: String) {
        #expect(ShellWords(line, breaks: Self.breaks).replacement(word) == nil)
    }
}
