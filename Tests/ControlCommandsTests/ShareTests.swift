import Foundation
import TestSupport
import Testing

@MainActor @Suite(.privateBus, .fakeService, .timeLimit(.minutes(10))) struct ShareTests {
    private let link = "https://photos.example/7?utm_source=imagefeed"

    @Test func `share prints the link`() async throws {
        #expect(try await Control.run(["share", "7"]).output == link + "\n")
        let json = try await Control.run(["share", "7", "--json"])
        #expect(json.output == #"{"url":"\#(link)"}"# + "\n")
    }

    @Test(arguments: [
        nil, "", "file:///etc/passwd", "https://a.example/\nrm -rf", "javascript:alert(1)",
        "--help", "https://a.example/ b",
    ])
    func `text that is not a web URL is not a link`(url: String?) async throws {
        service.account.link = url
        try await Control.expectFailure(["share", "7", "--open"], status: 1, "no link")
    }

    @Test(arguments: [
        (["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"], "wl-copy", ""),
        (["WAYLAND_DISPLAY": "wayland-0"], "wl-copy", ""),
        (["DISPLAY": ":0", "WAYLAND_DISPLAY": ""], "xclip", "-selection clipboard"),
    ])
    func `--copy uses the clipboard of the session`(
        settings: [String: String], program: String, arguments: String
    ) async throws {
        let folder = try PrivateBus.current.directory
        for name in ["wl-copy", "xclip"] {
            // Like the real programs, it keeps running in the background with the files that it inherited.
            try await Control.install(
                name,
                """
                echo noise; echo noise >&2
                { echo "\(name) $*"; /bin/cat; } > \(folder.path)/copied
                exec /bin/sleep 60 &
                """)
        }
        let result = try await Control.expectSuccess(
            ["share", "7", "--copy"], path: folder.appending("bin"), settings)
        #expect(result.output == link + "\n")
        #expect(result.error == "The link was copied to the clipboard.\n")
        #expect(try Control.content("copied") == "\(program) \(arguments)\n\(link)")
    }

    @Test(arguments: [
        (["DISPLAY": ":0"], "install xclip or xsel"),
        (["WAYLAND_DISPLAY": "wayland-0"], "install wl-copy"), ([:], "WAYLAND_DISPLAY nor DISPLAY"),
    ])
    func `--copy without a clipboard program names the missing program`(
        settings: [String: String], message: String
    ) async throws {
        let result = try await Control.run(
            ["share", "7", "--copy"], path: "/nonexistent", settings, status: 1)
        #expect(result.error.contains(message))
        #expect(result.output == link + "\n")
    }

    @Test func `a failing clipboard program is an error`() async throws {
        try await Control.install("xsel", "exit 3")
        let result = try await Control.run(
            ["share", "7", "--copy"], path: try PrivateBus.current.directory.appending("bin"),
            ["DISPLAY": ":0"], status: 1)
        #expect(result.error.contains("xsel exited with status 3"))
    }

    @Test func `--open starts the program of the desktop`() async throws {
        let folder = try PrivateBus.current.directory
        try await Control.install("xdg-open", "printf %s \"$1\" > \(folder.path)/opened")
        try await Control.expectSuccess(["share", "7", "--open"], path: folder.appending("bin"))
        #expect(try Control.content("opened") == link)
    }
}
