import Contract
import Glibc
import TestSupport
import Testing

/// Tests of the completion scripts in real shells, with a fake daemon.
@MainActor
@Suite(.privateBus, .timeLimit(.minutes(10)))
struct CompletionTests {
    /// Returns the completions of a line that has some.
    ///
    /// It repeats the request while the result is empty, because the completion ends without a result after half a
    /// second. The time limit of the suite ends the test if there never is one.
    private func knownOffers(_ shell: String, _ line: String) async throws -> [String] {
        while true {
            try Task.checkCancellation()
            let offers = try await offers(shell, line)
            if !offers.isEmpty { return offers }
        }
    }

    /// Returns the completions of a line.
    private func offers(_ shell: String, _ line: String) async throws -> [String] {
        var environment = try PrivateBus.current.environment
        let folder = Control.path.replacing("/imagefeedctl", with: "")
        environment["PATH"] = "\(folder):/usr/bin:/bin"
        environment["LINE"] = line
        let script =
            switch shell {
            case "bash":
                #"""
                eval "$(imagefeedctl completion bash)"; compopt() { :; }
                COMP_LINE=$LINE; COMP_POINT=${#LINE}; _imagefeedctl; printf '%s\n' "${COMPREPLY[@]}"
                """#
            case "zsh":
                // These functions replace builtins that zsh allows only in completion widgets.
                #"""
                compdef() { :; }; compadd() { print -rl -- ${(P)@[-1]} }
                eval "$(imagefeedctl completion zsh)"
                words=("${(@Q)${(@z)LINE}}"); [[ $LINE == *' ' ]] && words+=('')
                CURRENT=$#words PREFIX=$words[-1]; _imagefeedctl
                """#
            default:
                #"imagefeedctl completion fish | source; complete -C "$LINE""#
            }
        let result = try await ChildProcess(
            "/usr/bin/env", [shell] + (shell == "fish" ? ["--no-config"] : []) + ["-c", script],
            environment: environment
        ).result()
        #expect(result.error == "")
        return result.output.split(separator: "\n").map { line in
            String(line.prefix { $0 != "\t" })
        }
    }

    nonisolated private static var shells: [String] {
        ["bash", "zsh", "fish"].filter { access("/usr/bin/\($0)", X_OK) == 0 }
    }

    @Test(arguments: shells)
    func `a shell completes commands, accounts, sources and photos`(shell: String) async throws {
        try await FakeService.run { service in
            service.combined.sourceID = "everything"
            service.slideshow.hidden = ["local_ada/7"]
            for (line, words) in [
                ("fee", ["feed"]), ("remove ", ["local_ada", "unsplash_bob"]),
                ("login u", ["unsplash"]), ("feed --source ", ["all"]),
                ("like local_ada/29", ["local_ada/29"]), ("image 7 --size th", ["thumb"]),
                ("feed --cou", ["--count"]), ("provider t", ["test", "trace"]),
                ("provider trace u", ["unsplash"]), ("provider test --ser", ["--server"]),
                ("help slideshow re", ["resume", "remove"]), ("help provider ", ["test", "trace"]),
                ("slideshow re", ["resume", "remove"]), ("slideshow watch --ex", ["--exec"]),
                ("slideshow show local_ada/29", ["local_ada/29"]),
                ("slideshow unhide ", ["local_ada/7"]),
                ("slideshow set --source l", ["local_ada"]),
                // bash replaces only the text after the colon.
                (
                    "slideshow set --source local_ada:",
                    [shell == "bash" ? "all" : "local_ada:all"]
                ),
                ("feed --combined --source ", ["everything"]),
            ] {
                let offered = try await knownOffers(shell, "imagefeedctl " + line)
                #expect(offered == words)
            }
        }
    }

    @Test func `completion works without a daemon and does not start it`() async throws {
        let mark = try PrivateBus.current.directory.appending("started")
        try PrivateBus.current.addService(
            ServiceName.bus, command: "/usr/bin/touch \(mark)")
        #expect(try await offers("bash", "imagefeedctl like ") == [])
        #expect(try await knownOffers("bash", "imagefeedctl lik") == ["like", "likes"])
        #expect(access(mark, F_OK) != 0)
    }

    @Test func `completion never executes a name`() async throws {
        try await FakeService.run { service in
            let mark = try PrivateBus.current.directory.appending("was-run")
            service.account.sourceID = "album:$(touch \(mark))`touch \(mark)`"
            for shell in Self.shells {
                let offers = try await knownOffers(shell, "imagefeedctl feed --source al")
                #expect(offers.count == 1)
                #expect(access(mark, F_OK) != 0, "\(shell) ran it")
            }
        }
    }
}
