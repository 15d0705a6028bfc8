import Contract
import Glibc
import TestSupport
import Testing

/// Tests of the completion scripts in real shells, with a fake daemon.
@MainActor @Suite(.privateBus, .timeLimit(.minutes(10))) struct CompletionTests {
    /// Returns the completions of lines that have some.
    ///
    /// It repeats the request while a result is empty, because the completion ends without a result after half a
    /// second. The time limit of the suite ends the test if there never is one.
    private func knownOffers(_ shell: String, _ lines: [String]) async throws -> [[String]] {
        var known: [String: [String]] = [:]
        while known.count < lines.count {
            try Task.checkCancellation()
            let missing = lines.filter { known[$0] == nil }
            for (line, offers) in zip(missing, try await offers(shell, missing)) {
                known[line] = offers.isEmpty ? nil : offers
            }
        }
        return lines.compactMap { known[$0] }
    }

    /// Returns the completions of lines, which are typed in one shell.
    private func offers(_ shell: String, _ lines: [String]) async throws -> [[String]] {
        var environment = try PrivateBus.current.environment
        let folder = Control.path.replacing("/imagefeedctl", with: "")
        environment["PATH"] = "\(folder):/usr/bin:/bin"
        environment["TYPED"] = lines.joined(separator: "\n")
        let script =
            switch shell {
            case "bash":
                #"""
                eval "$(imagefeedctl completion bash)"; compopt() { :; }
                while IFS= read -r COMP_LINE; do
                    COMP_POINT=${#COMP_LINE}; _imagefeedctl; printf '%s\n' "${COMPREPLY[@]}"
                    printf '\036'
                done <<<"$TYPED"
                """#
            case "zsh":
                // These functions replace builtins that zsh allows only in completion widgets.
                #"""
                compdef() { :; }; compadd() { print -rl -- ${(P)@[-1]} }
                eval "$(imagefeedctl completion zsh)"
                for LINE in "${(@f)TYPED}"; do
                    words=("${(@Q)${(@z)LINE}}"); [[ $LINE == *' ' ]] && words+=('')
                    CURRENT=$#words PREFIX=$words[-1]; _imagefeedctl
                    printf '\036'
                done
                """#
            default:
                #"""
                imagefeedctl completion fish | source
                for line in (string split \n -- $TYPED)
                    complete -C "$line"; printf '\036'
                end
                """#
            }
        let result = try await ChildProcess(
            "/usr/bin/env", [shell] + (shell == "fish" ? ["--no-config"] : []) + ["-c", script],
            environment: environment
        ).result()
        #expect(result.error == "")
        let outputs = result.output.split(separator: "\u{1E}", omittingEmptySubsequences: false)
        return outputs.dropLast().map { output in
            output.split(separator: "\n").map { line in String(line.prefix { $0 != "\t" }) }
        }
    }

    nonisolated private static var shells: [String] {
        ["bash", "zsh", "fish"].filter { access("/usr/bin/\($0)", X_OK) == 0 }
    }

    @Test(.fakeService, arguments: shells)
    func `a shell completes commands, accounts, sources and photos`(shell: String) async throws {
        service.combined.sourceID = "everything"
        service.slideshow.hidden = ["local_ada/7"]
        let expected = [
            ("fee", ["feed"]), ("remove ", ["local_ada", "unsplash_bob"]),
            ("login u", ["unsplash"]), ("feed --source ", ["all"]),
            ("like local_ada/29", ["local_ada/29"]), ("image 7 --size th", ["thumb"]),
            ("feed --cou", ["--count"]), ("provider t", ["test"]),
            ("provider test --ser", ["--server"]),
            ("help slideshow re", ["resume", "remove"]), ("help provider ", ["test"]),
            ("slideshow re", ["resume", "remove"]), ("slideshow watch --ex", ["--exec"]),
            ("slideshow show local_ada/29", ["local_ada/29"]),
            ("slideshow unhide ", ["local_ada/7"]),
            // Tables print the short IDs of accounts.
            ("like local/29", ["local/29"]), ("slideshow unhide local/", ["local/7"]),
            ("slideshow set --source l", ["local_ada"]),
            // bash replaces only the text after the colon.
            (
                "slideshow set --source local_ada:",
                [shell == "bash" ? "all" : "local_ada:all"]
            ),
            ("feed --combined --source ", ["everything"]),
        ]
        let offered = try await knownOffers(shell, expected.map { "imagefeedctl " + $0.0 })
        #expect(offered == expected.map(\.1))
    }

    @Test func `completion works without a daemon and does not start it`() async throws {
        let mark = try PrivateBus.current.directory.appending("started")
        try PrivateBus.current.addService(ServiceName.bus, command: "/usr/bin/touch \(mark)")
        #expect(try await offers("bash", ["imagefeedctl like "]) == [[]])
        #expect(try await knownOffers("bash", ["imagefeedctl lik"]) == [["like", "likes"]])
        #expect(access(mark, F_OK) != 0)
    }

    @Test(.fakeService) func `completion never executes a name`() async throws {
        let mark = try PrivateBus.current.directory.appending("was-run")
        service.account.sourceID = "album:$(touch \(mark))`touch \(mark)`"
        for shell in Self.shells {
            let offers = try await knownOffers(shell, ["imagefeedctl feed --source al"])
            #expect(offers[0].count == 1)
            #expect(access(mark, F_OK) != 0, "\(shell) ran it")
        }
    }
}
