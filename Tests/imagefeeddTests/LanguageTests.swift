import Contract
import DBus
import Foundation
import ProviderKit
import TestSupport
import Testing
import Translation
import UnsplashSimulator

/// Tests of the daemon for a user who reads another language.
@Suite(.privateBus, .privateKeyring, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct LanguageTests {
    /// The catalog of the test, and the program that starts the daemon with it.
    private struct Language {
        let catalog: String
        let launcher: [String]

        @MainActor init(_ code: String = "xx") async throws {
            let texts = """
                msgid "The service cannot be reached: {reason}."
                msgstr "Unerreichbar ({reason})."
                msgid "A like was not sent"
                msgstr "Nicht gemocht"
                msgid "{count} like could not be sent for {account}."
                msgid_plural "{count} likes could not be sent for {account}."
                msgstr[0] "{account}: {count} Foto."
                msgstr[1] "{account}: {count} Fotos."
                msgid "{account} at {service}"
                msgstr "{account} bei {service}"
                msgid "Try again"
                msgstr "Nochmal"
                msgid "Liked photos"
                msgstr "Gemochte Fotos"
                """
            let test = try await TestCatalog(texts, in: PrivateBus.current.directory)
            catalog = test.path
            let variables = test.environment.merging(["LANGUAGE": code]) { $1 }
            launcher = ["/usr/bin/env"] + variables.map { "\($0)=\($1)" }
        }
    }

    @Test func `shown texts are translated, errors and logs are in English`() async throws {
        let desktop = try await NotifiedDesktop()
        let (fixture, ada) = try await logIn(
            to: UnsplashFixture(launcher: try await Language().launcher))
        let titles = try await ada.sources().map(\.title.english)
        #expect(titles.prefix(2) == ["Editorial", "Gemochte Fotos"])
        let recording = try await BusRecording()
        let id = fixture.unsplash.publish { photo in
            photo.kind = .photo
            photo.isPlus = false
            photo.imagePath = "/photo-1"
        }.id
        fixture.unsplash.stop()
        let reply = await errorReply { _ = try await ada.toggleLike(id) }
        #expect(reply?.name == ServiceError.offline.name)
        #expect(reply?.message.hasPrefix("The service cannot be reached: ") == true)
        try await fixture.client.wait(ada.path, .account, "StateReason") {
            $0.string?.hasPrefix("Unerreichbar (") == true
        }
        try await desktop.showing(1)
        for text in [
            "\"Nicht gemocht\"", "ada bei Unsplash: 1 Foto. Unerreichbar (", "\"Nochmal\"",
        ] {
            try await recording.wait(for: text)
        }
        try await fixture.daemon.stop()
        let log = fixture.daemon.process.standardError.value.text
        #expect(log.contains("The service cannot be reached: "))
        #expect(!log.contains("Unerreichbar"))
    }

    @Test(arguments: [("xx", true), ("en", false)])
    func `the catalog is opened for the first text`(language: String, isOpened: Bool) async throws {
        let language = try await Language(language)
        let events = inotify_init1(Int32(IN_NONBLOCK))
        defer { close(events) }
        try #require(inotify_add_watch(events, language.catalog, UInt32(IN_OPEN)) >= 0)
        func wasOpened() -> Bool {
            var bytes = [UInt8](repeating: 0, count: 256)
            return read(events, &bytes, bytes.count) > 0
        }
        let client = try TestClient()
        let command = language.launcher + [RunningDaemon.path]
        let daemon = try await client.connection.waitForOwner(of: ServiceName.bus) {
            try ChildProcess(
                command[0], Array(command.dropFirst()), environment: RunningDaemon.environment())
        }
        let manager = try await client.service.properties()
        #expect(!manager.isEmpty)
        #expect(!wasOpened())
        let help = try await client.proxy(ServiceName.providers.appending("unsplash"))
            .property(.provider, "Help")
        #expect(help.string?.isEmpty == false)
        #expect(wasOpened() == isOpened)
        daemon.terminate()
        #expect(try await daemon.exitStatus() == .code(0))
    }
}
