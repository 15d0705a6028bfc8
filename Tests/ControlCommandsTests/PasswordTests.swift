import DBus
import TestSupport
import Testing

/// A person who types a password at a terminal.
@MainActor
@Suite(.privateBus, .timeLimit(.minutes(1)))
struct PasswordTests {
    @Test func `a new user gives a name, and a password twice, unseen`() async throws {
        try await FakeService.run { service in
            let terminal = try Terminal("\"$CTL\" login local --register")
            try await terminal.wait(for: "User name: ")
            terminal.type(" ada \n")
            try await terminal.wait(for: "Password (empty for none): ")
            terminal.type("geheim\n")
            try await terminal.wait(for: "Password again: ")
            terminal.type("geheim\n")
            let result = try await terminal.result()
            #expect(result.exit == .code(0))
            #expect(
                result.screen == """
                    User name:  ada \n\
                    Password (empty for none): \n\
                    Password again: \n\
                    local_ada

                    """)
            let login = try #require(service.logins.value.last)
            #expect(login.password == "geheim")
            #expect(login.options["username"] == .string("ada"))
            #expect(login.options["register"] == .bool(true))
        }
    }

    @Test func `a new user who types no password has none`() async throws {
        try await FakeService.run { service in
            let terminal = try Terminal("\"$CTL\" login local --register --username ada")
            try await terminal.wait(for: "Password (empty for none): ")
            terminal.type("\n")
            #expect(try await terminal.result().exit == .code(0))
            let options: [String: Variant] = ["username": .string("ada"), "register": .bool(true)]
            #expect(service.logins.value.map(\.options) == [options])
        }
    }

    @Test func `who puts the question away registers nobody`() async throws {
        try await FakeService.run { service in
            let terminal = try Terminal("\"$CTL\" login local --register --username ada")
            try await terminal.wait(for: "Password (empty for none): ")
            // Ctrl-D
            terminal.type("\u{4}")
            let result = try await terminal.result()
            #expect(result.exit == .code(130))
            #expect(result.screen.contains("Nothing was entered."))
            #expect(service.logins.value.isEmpty)
        }
    }

    @Test func `two passwords that differ register nobody`() async throws {
        try await FakeService.run { service in
            let terminal = try Terminal("\"$CTL\" login local --register --username ada")
            try await terminal.wait(for: "Password (empty for none): ")
            terminal.type("geheim\n")
            try await terminal.wait(for: "Password again: ")
            terminal.type("geheum\n")
            let result = try await terminal.result()
            #expect(result.exit == .code(1))
            #expect(result.screen.contains("The second password is not the first one."))
            #expect(service.logins.value.isEmpty)
        }
    }

    @Test(arguments: [("geheim", Int32(0)), ("geraten", 1)])
    func `a password is asked for when one turns out to be needed`(
        typed: String, status: Int32
    ) async throws {
        try await FakeService.run { service in
            let terminal = try Terminal("\"$CTL\" login local --username grace")
            try await terminal.wait(for: "Password: ")
            terminal.type("\(typed)\n")
            let result = try await terminal.result()
            #expect(result.exit == .code(status))
            #expect(!result.screen.contains(typed))
            #expect(service.logins.value.map(\.password) == [nil, typed])
        }
    }

    @Test func `a password file may have a name that is not UTF-8`() async throws {
        try await FakeService.run { service in
            let folder = try PrivateBus.current.directory.appending("")
            let result = try await Control.shell(
                """
                cd '\(folder)' && file=$(printf '\\351') && echo geheim >"$file" &&
                    "$CTL" login local --username grace --password-file "$file" && rm "$file"
                """)
            #expect(result.exit == .code(0), "\(result.error)")
            #expect(service.logins.value.map(\.password) == ["geheim"])
        }
    }

    @Test func `a key is enough for a provider whose users have no names`() async throws {
        try await FakeService.run { service in
            service.local.hasNames = false
            let result = try await Control.run(
                ["login", "local", "--password-file", "-"], input: "key\n")
            #expect(result.exit == .code(0), "\(result.error)")
            #expect(service.logins.value.map(\.password) == ["key"])
        }
    }

    @Test func `where nobody can be asked, what is missing is said`() async throws {
        try await FakeService.run { service in
            let nobody = try await Control.run(["login", "local", "--register"])
            #expect(nobody.exit == .code(64))
            #expect(nobody.error.contains("--username"))
            #expect(service.logins.value.isEmpty)
            let without = try await Control.run(["login", "local", "--username", "grace"])
            #expect(without.exit == .code(1))
            #expect(without.error.contains("--password-file"))
        }
    }
}
