import Contract
import Glibc
import TestSupport
import Testing

@testable import ControlCommands

/// Tests of the program with a catalog of another language.
@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct LanguageTests {
    private static let catalog = [
        "Show the states of the daemon, the accounts and the providers.":
            "Zeigt die Zustände des Dienstes, der Konten und der Anbieter. Außerdem steht hier so viel, dass es nicht in eine Zeile passt.",
        "OVERVIEW:": "ÜBERBLICK:", "OPTIONS:": "EINSTELLUNGEN:", "USAGE:": "AUFRUF:",
        "values:": "Werte:", "default:": "Vorgabe:",
        "Show help information.": "Zeigt diese Hilfe, die viel länger ist als die auf Englisch.",
        "See '{command}' for more information.": "Mehr steht in '{command}'.",
        "ACCOUNT": "BENUTZERKONTO", "PROVIDER": "ANBIETER VON FOTOS", "STATE": "ZUSTAND DES KONTOS",
        "LABEL": "BEZEICHNUNG", "NAME": "VOLLSTÄNDIGER NAME",
        "ready": "betriebsbereit", "yes": "ja", "y": "j",
        " [y/N]": " [j/N]", "Log out of {account}?": "{account} abmelden?",
        "It was not found.": "Das gibt es nicht.",
        "An argument is not valid.": "Ein Argument ist ungültig.", "created": "aufgenommen",
        "latitude": "Breitengrad", "liked": "gefällt mir",
        "There is no option '{option}'.": "Die Option '{option}' gibt es nicht.",
        "There is no option '{option}'. Did you mean '{other}'?":
            "Die Option '{option}' gibt es nicht. Ist '{other}' gemeint?",
        "'{option}' has no value.": "'{option}' hat keinen Wert.",
        "'{argument}' is missing.": "'{argument}' fehlt.",
        "'{option}' takes no value.": "'{option}' nimmt keinen Wert.",
        "Unexpected arguments: '{arguments}'.": "Zu viel: '{arguments}'.",
        "The value '{value}' is invalid for '{option}'":
            "Der Wert '{value}' passt nicht zu '{option}'",
        "There is no account “{account}”. “imagefeedctl accounts” lists the accounts.":
            "Das Konto „{account}“ gibt es nicht; „imagefeedctl accounts“ nennt alle.",
    ]

    /// Writes the catalog.
    ///
    /// - Returns: The variables with which the program uses it.
    private func settings() async throws -> [String: String] {
        let texts = Self.catalog.map { "msgid \"\($0)\"\nmsgstr \"\($1)\"\n" }
        return try await TestCatalog(texts.joined(), in: PrivateBus.current.directory).environment
    }

    /// Returns the screen of a command, by default with the catalog.
    private func screen(
        _ command: String, _ settings: [String: String]? = nil, input: String = ""
    ) async throws -> String {
        var settings = if let settings { settings } else { try await self.settings() }
        settings["TERM"] = "dumb"
        return try await Terminal("\"$CTL\" \(command)", settings, input: input)
            .screen(status: nil)
    }

    @Test func `a table has headings and states in the user's language`() async throws {
        service.account.pending = ["1"]
        let screen = try await screen("accounts")
        #expect(screen.contains("BENUTZERKONTO  "))
        #expect(screen.contains("  betriebsbereit"))
        #expect(!screen.contains("ready"))
        #expect(screen.split(separator: "\n").allSatisfy { $0.displayWidth <= 80 })
    }

    @Test func `output to a pipe and JSON are in English`() async throws {
        let settings = try await settings()
        for command in [["accounts"], ["status"], ["photo", "7"], ["accounts", "--json"]] {
            let english = try await Control.run(command)
            let translated = try await Control.run(command, settings)
            #expect(translated.output == english.output)
            #expect(!english.output.isEmpty)
        }
    }

    @Test func `an error is in the language of the user`() async throws {
        let settings = try await settings()
        let missing = try await Control.run(["default", "nobody"], settings)
        #expect(
            missing.error
                == "imagefeedctl: Das Konto „nobody“ gibt es nicht; „imagefeedctl accounts“ nennt alle.\n"
        )
        let refused = try await Control.run(["photo", "NotFound"], settings)
        #expect(refused.error.hasPrefix("imagefeedctl: Das gibt es nicht. ("))
        let invalid = try await Control.run(["feed", "--cursor", "x"], settings)
        #expect(invalid.error == "imagefeedctl: Ein Argument ist ungültig. (1 to 100.)\n")
        let usage = try await Control.run(["feed", "--count"], settings)
        #expect(usage.error.hasSuffix(" Mehr steht in 'imagefeedctl feed --help'.\n"))
    }

    @Test(arguments: [
        ("feed --cuont=3", "Die Option '--cuont' gibt es nicht. Ist '--count' gemeint?"),
        ("feed --xyzzy", "Die Option '--xyzzy' gibt es nicht."),
        ("feed --count", "'--count <count>' hat keinen Wert."), ("default", "'<account>' fehlt."),
        ("feed it's", "Zu viel: 'it's'."), ("feed a b", "Zu viel: 'a', 'b'."),
        ("feed --all=1", "'--all' nimmt keinen Wert."),
        ("feed --count it's", "Der Wert 'it's' passt nicht zu '--count <count>'."),
        (
            "image --size x",
            "Der Wert 'x' passt nicht zu '--size <size>': 'thumb', 'small', 'regular', 'full'."
        ),
        (
            "feed --format {titel}",
            "Der Wert '{titel}' passt nicht zu '--format <text>': There is no key “titel”."
        ),
    ])
    func `an error of the parser is translated`(line: String, message: String) async throws {
        let settings = try await settings()
        let error = try await Control.run(line.words, settings).error
        #expect(error.hasPrefix("imagefeedctl: \(message)"), "\(error)")
        #expect(error.contains("--help'"))
    }

    @Test func `without a catalog of the language, output is as in English`() async throws {
        var settings = try await settings()
        settings["LANGUAGE"] = "yy"
        service.account.pending = ["1"]
        for command in ["accounts", "photo nothing", "--help"] {
            let screen = try await screen(command, settings)
            #expect(try await self.screen(command, [:]) == screen)
        }
    }

    @Test(arguments: [("j\n", ["Logout"]), ("y\n", ["Logout"]), ("n\n", [])])
    func `a question accepts a translated reply`(input: String, calls: [String]) async throws {
        let screen = try await screen("logout", input: input)
        #expect(screen.contains(" abmelden? [j/N] "))
        #expect(service.account.calls.value == calls)
    }

    @Test func `help names the values and the default in the language of the user`() async throws {
        let words = try await screen("image --help").split { $0.isWhitespace }
        #expect(words.contains("(Werte:") && words.contains("Vorgabe:"))
        #expect(!words.contains("default:"))
        #expect(try await screen("download --help").contains("(Vorgabe:"))
    }

    @Test func `help has translated headings, and its lines fit into the terminal`() async throws {
        let screen = try await screen("status --help")
        #expect(screen.contains("ÜBERBLICK:\nZeigt die Zustände des Dienstes"))
        #expect(screen.contains("AUFRUF:\n       imagefeedctl status"))
        #expect(screen.contains("EINSTELLUNGEN:\n"))
        #expect(
            screen.contains(
                """
                  -h, --help              Zeigt diese Hilfe, die viel länger ist als die auf
                                          Englisch.

                """))
        #expect(screen.split(separator: "\n").allSatisfy { $0.displayWidth <= 80 })
    }

    @Test func `a photo has translated names of properties on a terminal`() async throws {
        let neutral = try await screen("photo 7")
        #expect(neutral.contains("aufgenommen"))
        #expect(neutral.contains("2026-11-2"))
    }

    @Test(
        .enabled("the definition of the locale is not installed") {
            access("/usr/share/i18n/locales/de_DE", R_OK) == 0
        })
    func `a photo has dates of the locale on a terminal`() async throws {
        var settings = try await settings()
        let folder = try PrivateBus.current.directory.appending("locales")
        try await Control.shell(
            "mkdir '\(folder)' && localedef -i de_DE -f UTF-8 '\(folder)/de_DE.UTF-8'")
        settings["LC_ALL"] = "de_DE.UTF-8"
        settings["LOCPATH"] = folder
        let german = try await screen("photo 7", settings)
        #expect(german.contains(".11.2026 "))
        #expect(!german.contains("2026-11-2"))
        // The texts of the C library have letters that are not ASCII, such as those of “diretório”.
        settings["LANGUAGE"] = "xx:pt_BR"
        let failed = try await Control.run(
            ["login", "local", "--username", "ada", "--password-file", "/missing"], settings)
        #expect(failed.error.contains("/missing: ") && !failed.error.contains("?"))
        let piped = try await Control.run(["photo", "7"], settings)
        #expect(piped.output == (try await Control.run(["photo", "7"])).output)
    }

    @Test func `every property of a photo has a name for users`() {
        #expect(Set(PhotoEntry.keys).isSubset(of: OutputTarget.words.keys))
    }
}
