import DBus
import Glibc
import TestSupport
import Testing

/// Tests of password prompts on a terminal.
@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct PasswordTests {
    @Test func `registration prompts for a name and twice for a hidden password`() async throws {
        let screen = try await Terminal.screen(
            "\"$CTL\" login local --register",
            replies: [
                "User name: ": " ada \n", "Password (empty for none): ": "geheim\n",
                "Password again: ": "geheim\n",
            ])
        #expect(
            screen == """
                User name:  ada \n\
                Password (empty for none): \n\
                Password again: \n\
                local_ada
                List the photos with “imagefeedctl feed”.

                """)
        let login = try #require(service.manager.logins.value.last)
        #expect(login.password == "geheim")
        let options = [login.options["username"], login.options["register"]]
        #expect(options == [.string("ada"), .bool(true)])
    }

    @Test func `an empty password registers a user without a password`() async throws {
        try await Terminal.screen(
            "\"$CTL\" login local --register --username ada",
            replies: ["Password (empty for none): ": "\n"])
        let options: [String: Variant] = ["username": .string("ada"), "register": .bool(true)]
        #expect(service.manager.logins.value.map(\.options) == [options])
    }

    @Test(arguments: [["--username", "ada"], []])
    func `registration without a password does not prompt`(name: [String]) async throws {
        let words = ["login", "local", "--register", "--no-password"] + name
        let screen = try await Terminal("\"$CTL\" \(words.joined(separator: " "))").screen()
        #expect(screen == "local_ada\nList the photos with “imagefeedctl feed”.\n")
        let user = try #require(getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) })
        let options: [String: Variant] = [
            "username": .string(name.last ?? user), "register": .bool(true),
        ]
        #expect(service.manager.logins.value.map(\.options) == [options])
    }

    @Test func `Ctrl-D at the password prompt cancels the registration`() async throws {
        let screen = try await Terminal.screen(
            "\"$CTL\" login local --register --username ada",
            replies: ["Password (empty for none): ": "\u{4}"], status: 130)
        #expect(screen.contains("\nimagefeedctl: Nothing was entered."))
        #expect(service.manager.logins.value.isEmpty)
    }

    @Test func `two different passwords cancel the registration`() async throws {
        let screen = try await Terminal.screen(
            "\"$CTL\" login local --register --username ada",
            replies: ["Password (empty for none): ": "geheim\n", "Password again: ": "geheum\n"],
            status: 1)
        #expect(screen.contains("The second password differs from the first one."))
        #expect(service.manager.logins.value.isEmpty)
    }

    @Test(arguments: [("geheim", Int32(0)), ("geraten", 1)])
    func `login prompts for a password if required`(typed: String, status: Int32) async throws {
        let screen = try await Terminal.screen(
            "\"$CTL\" login local --username grace", replies: ["Password: ": "\(typed)\n"],
            status: status)
        #expect(!screen.contains(typed))
        #expect(service.manager.logins.value.map(\.password) == [nil, typed])
    }

    @Test func `a password file may have a name that is not UTF-8`() async throws {
        let folder = try PrivateBus.current.directory.appending("")
        try await Control.shell(
            """
            cd '\(folder)' && file=$(printf '\\351') && echo geheim >"$file" &&
                "$CTL" login local --username grace --password-file "$file" && rm "$file"
            """)
        #expect(service.manager.logins.value.map(\.password) == ["geheim"])
    }

    @Test func `a key is sufficient for a provider without user names`() async throws {
        service.manager.local.hasNames = false
        try await Control.expectSuccess(["login", "local", "--password-file", "-"], input: "key\n")
        #expect(service.manager.logins.value.map(\.password) == ["key"])
    }

    @Test func `without a terminal, missing input is a usage error`() async throws {
        try await Control.expectFailure(
            ["login", "local", "--register"], status: 64, "needs --username NAME.\n")
        #expect(service.manager.logins.value.isEmpty)
        try await Control.expectFailure(
            ["login", "local", "--username", "grace"], status: 1, "--password-file")
    }
}
