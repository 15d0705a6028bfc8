import Foundation
import TestSupport
import Testing

/// Installs providers that the daemon under test runs as separate programs.
@MainActor
enum HostedProvider {
    private static let folder = "home/.local/share/imagefeed/providers"

    /// Returns the ID of an account according to `org.imagefeed.ImageFeed1.Account`.
    static func accountID(_ provider: String, _ name: String) -> String {
        name.utf8.reduce(into: "\(provider)_") { id, byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || character == "_" {
                id.append(character)
            } else {
                id += "_" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
    }

    /// Installs a program that was built with the tests, and its manifest.
    ///
    /// - Parameters:
    ///   - product: The name of the program.
    ///   - manifest: The manifest, which names the program `./ID/ID`.
    ///   - id: The ID of the provider.
    /// - Throws: The error of a file that cannot be written.
    static func install(_ product: String, _ manifest: String, id: String) throws {
        let directory = try PrivateBus.current.directory
        try directory.write("", to: "\(folder)/\(id)/README")
        try BuiltProducts.copy(product, to: directory.appending("\(folder)/\(id)/\(id)"))
        try directory.write(manifest, to: "\(folder)/\(id).provider")
    }

    /// Configures a built-in provider for a simulator on this machine, or installs it as a plugin.
    ///
    /// - Parameters:
    ///   - id: The ID of the provider.
    ///   - place: Where the provider runs.
    ///   - settings: Further lines of its configuration.
    ///   - product: The name of the program of the plugin.
    ///   - manifest: Its manifest, which names the program `./ID/ID`.
    /// - Throws: The error of a file that cannot be written.
    static func prepare(
        _ id: String, in place: UnsplashFixture.Place, settings: String = "", product: String,
        manifest: @autoclosure () -> String
    ) throws {
        try RunningDaemon.configure(
            "[Provider \(id)]\nAllowLoopback=\(place == .plugin)\n\(settings)\n")
        if place == .plugin { try install(product, manifest(), id: id) }
    }

    /// Installs an example.
    ///
    /// - Parameters:
    ///   - id: The ID, which is also the name of its folder and files.
    ///   - script: The file of a script; nil for a program that was built with the tests.
    ///   - change: Changes the manifest.
    /// - Throws: The error of a file that cannot be written.
    static func installExample(
        _ id: String, script: String? = nil, _ change: (String) -> String = { $0 }
    ) throws {
        let manifest = change(try example(id, "\(id).provider"))
        guard let script else { return try install("\(id)-example", manifest, id: id) }
        try PrivateBus.current.directory.write(
            example(id, script), to: "\(folder)/\(id)/\(script)")
        try writeManifest(manifest, of: id)
    }

    /// Returns the text of a file of an example.
    static func example(_ id: String, _ file: String) throws -> String {
        try String(
            contentsOf: repository.appending(path: "dist/examples/\(id)/\(file)"), encoding: .utf8)
    }

    /// Writes a manifest in one step, because the daemon may read it at any time.
    static func writeManifest(_ text: String, of id: String) throws {
        let directory = try PrivateBus.current.directory
        let new = try directory.write(text, to: "tmp/\(id).provider")
        try #require(rename(new, directory.appending("\(folder)/\(id).provider")) == 0)
    }
}
